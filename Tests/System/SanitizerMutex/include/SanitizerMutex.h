// Nothing to call: see mutex.c.
#pragma once
