// The C door to libidn2, which libcurl links too. Its flags are enumerators combined with `|`, which Swift does not import.
#pragma once
#include <idn2.h>

static inline int sleeve_idn2_lookup(const uint8_t *name, uint8_t **ascii) {
    return idn2_lookup_u8(name, ascii, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
}
