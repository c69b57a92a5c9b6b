#include "CTagLib.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <unistd.h>

#include <aifffile.h>
#include <apefile.h>
#include <apefooter.h>
#include <apeitem.h>
#include <apetag.h>
#include <asffile.h>
#include <asfpicture.h>
#include <asftag.h>
#include <attachedpictureframe.h>
#include <flacfile.h>
#include <flacpicture.h>
#include <id3v1tag.h>
#include <id3v2framefactory.h>
#include <id3v2tag.h>
#include <mp4atom.h>
#include <mp4file.h>
#include <mp4tag.h>
#include <mpcfile.h>
#include <mpegfile.h>
#include <mpegheader.h>
#include <oggflacfile.h>
#include <opusfile.h>
#include <speexfile.h>
#include <taglib.h>
#include <tfilestream.h>
#include <tpropertymap.h>
#include <trueaudiofile.h>
#include <vorbisfile.h>
#include <wavfile.h>
#include <wavpackfile.h>
#include <xingheader.h>
#include <xiphcomment.h>

// Works with TagLib 1.13 and 2.x.
namespace {
using namespace TagLib;

/// Types of pictures in ID3v2 and FLAC. MP4 has none; its first picture is the cover.
const int32_t other = 0, front_cover = 3, back_cover = 4;

struct Visit {
    const sleeve_tag_visitor &visitor;

    void text(const std::string &key, const std::string &value) const {
        visitor.text(visitor.context, key.data(), key.size(), value.data(), value.size());
    }

    /// TagLib says 0, or less, where it does not know.
    void length(double milliseconds) const {
        if (milliseconds > 0 && milliseconds < 1e9) {
            visitor.length(visitor.context, static_cast<uint32_t>(milliseconds));
        }
    }

    void length(const AudioProperties *properties) const {
        if (properties) length(properties->lengthInMilliseconds());
    }

    void texts(const PropertyMap &properties) const {
        for (const auto &property : properties) {
            const std::string key = property.first.to8Bit(true);
            for (const auto &value : property.second) text(key, value.to8Bit(true));
        }
    }

    void picture(int32_t type, const String &media_type, const ByteVector &bytes) const {
        // "-->" stands for an address instead of a picture.
        if (bytes.isEmpty() || media_type == "-->") return;
        const std::string name = media_type.to8Bit(true);
        visitor.picture(visitor.context, type, name.data(), name.size(), bytes.data(), bytes.size());
    }

    void pictures(const ID3v2::Tag *tag) const {
        if (!tag) return;
        const auto &frames = tag->frameListMap();
        const auto found = frames.find("APIC");
        if (found == frames.end()) return;
        for (const auto *frame : found->second) {
            if (const auto *attached = dynamic_cast<const ID3v2::AttachedPictureFrame *>(frame)) {
                picture(attached->type(), attached->mimeType(), attached->picture());
            }
        }
    }

    void pictures(const List<FLAC::Picture *> &list) const {
        for (const auto *one : list) picture(one->type(), one->mimeType(), one->data());
    }

    void pictures(Ogg::XiphComment *comment) const {
        if (comment) pictures(comment->pictureList());
    }

    /// APEv2: a file name, NUL, and the picture. Some programs leave out the name and the NUL.
    void pictures(const APE::Tag *tag) const {
        if (!tag) return;
        for (const auto &entry : tag->itemListMap()) {
            const std::string key = entry.first.upper().to8Bit(true);
            if (key.compare(0, 11, "COVER ART (") != 0 || entry.second.type() != APE::Item::Binary) continue;
            ByteVector bytes = entry.second.binaryData();
            const bool has_name = !bytes.startsWith(ByteVector("\xFF\xD8\xFF", 3)) && !bytes.startsWith("\x89PNG");
            const int end = has_name ? bytes.find(ByteVector('\0')) : -1;
            if (end >= 0) bytes = bytes.mid(end + 1);
            const bool is_other = key == "COVER ART (OTHER)";
            picture(key == "COVER ART (FRONT)" ? front_cover : is_other ? other : back_cover, String(), bytes);
        }
    }

    /// `covr` contains a box `data` for each picture: its type, a locale, and the bytes. TagLib leaves out those whose type is no picture's.
    void pictures(MP4::File &file) const {
        MP4::Atoms atoms(&file);
        MP4::Atom *items = atoms.find("moov", "udta", "meta", "ilst");
        if (!items) return;
        for (const auto *item : items->findall("covr")) {
#if TAGLIB_MAJOR_VERSION >= 2
            const auto offset = item->offset(), length = item->length();
#else
            const auto offset = item->offset, length = item->length;
#endif
            if (length <= 8) continue;
            file.seek(offset + 8);
            const ByteVector boxes = file.readBlock(static_cast<unsigned long>(length - 8));
            for (unsigned int position = 0, size = 0; boxes.size() - position >= 16; position += size) {
                size = boxes.toUInt(position, true);
                if (size < 8 || size > boxes.size() - position) break;
                if (size > 16 && boxes.mid(position + 4, 4) == "data") {
                    picture(front_cover, String(), boxes.mid(position + 16, size - 16));
                }
            }
        }
    }

    void pictures(ASF::Tag *tag) const {
        if (!tag) return;
        for (const auto &attribute : tag->attribute("WM/Picture")) {
            const ASF::Picture found = attribute.toPicture();
            if (found.isValid()) picture(found.type(), found.mimeType(), found.picture());
        }
        // TagLib's property map leaves it out.
        for (const auto &attribute : tag->attribute("WM/IsCompilation")) {
            const bool is_text = attribute.type() == ASF::Attribute::UnicodeType;
            text("COMPILATION", is_text ? attribute.toString().to8Bit(true) : attribute.toBool() ? "1" : "0");
        }
    }
};

/// A file of which only an ID3v2 tag at a known offset is read. TagLib 1.13 does not know DSF.
class TaggedFile : public File {
public:
    TaggedFile(IOStream *stream, long offset) : File(stream), id3v2(this, offset) {}
    Tag *tag() const override { return nullptr; }
    AudioProperties *audioProperties() const override { return nullptr; }
    bool save() override { return false; }
    ID3v2::Tag id3v2;
};

enum class Format { mpeg, flac, vorbis, opus, speex, ogg_flac, mp4, asf, wav, aiff, ape, mpc, wavpack, true_audio, dsf, unknown };

/// The format by the first bytes, else by the extension: an ID3v2 tag may precede any of them.
Format format_of(const char *head, size_t count, const std::string &extension) {
    const auto has = [&](size_t offset, const char *bytes, size_t length) {
        return offset + length <= count && std::memcmp(head + offset, bytes, length) == 0;
    };
    if (has(0, "fLaC", 4)) return Format::flac;
    if (has(0, "OggS", 4)) {
        if (has(28, "OpusHead", 8)) return Format::opus;
        if (has(28, "\x7F" "FLAC", 5)) return Format::ogg_flac;
        if (has(28, "Speex   ", 8)) return Format::speex;
        if (has(28, "\x01vorbis", 7)) return Format::vorbis;
        return extension == "opus" ? Format::opus : Format::vorbis;
    }
    if (has(4, "ftyp", 4)) return Format::mp4;
    if (has(0, "\x30\x26\xB2\x75\x8E\x66\xCF\x11", 8)) return Format::asf;
    if (has(0, "RIFF", 4) && has(8, "WAVE", 4)) return Format::wav;
    if (has(0, "FORM", 4) && (has(8, "AIFF", 4) || has(8, "AIFC", 4))) return Format::aiff;
    if (has(0, "MAC ", 4)) return Format::ape;
    if (has(0, "MPCK", 4) || has(0, "MP+", 3)) return Format::mpc;
    if (has(0, "wvpk", 4)) return Format::wavpack;
    if (has(0, "TTA", 3)) return Format::true_audio;
    if (has(0, "DSD ", 4)) return Format::dsf;
    static const struct { const char *extension; Format format; } table[] = {
        {"mp3", Format::mpeg}, {"mp2", Format::mpeg}, {"aac", Format::mpeg}, {"flac", Format::flac},
        {"ogg", Format::vorbis}, {"oga", Format::vorbis}, {"opus", Format::opus}, {"spx", Format::speex},
        {"m4a", Format::mp4}, {"m4b", Format::mp4}, {"wma", Format::asf}, {"wav", Format::wav}, {"aif", Format::aiff},
        {"aiff", Format::aiff}, {"aifc", Format::aiff}, {"ape", Format::ape}, {"mpc", Format::mpc},
        {"wv", Format::wavpack}, {"tta", Format::true_audio}, {"dsf", Format::dsf},
    };
    for (const auto &row : table) {
        if (extension == row.extension) return row.format;
    }
    return Format::unknown;
}

uint64_t little_endian(const char *bytes) {
    uint64_t number = 0;
    for (int index = 7; index >= 0; index--) number = number << 8 | static_cast<unsigned char>(bytes[index]);
    return number;
}

/// The properties of a file's tags, each key from the first tag that has it. TagLib takes all from one tag, and many files have an ID3v2 tag
/// with less than the ID3v1 tag, or one whose end cannot be parsed.
template <class... Tags> PropertyMap merged(Tags *...tags) {
    PropertyMap all;
    const auto add = [&](const auto *tag) {
        if (!tag) return;
        for (const auto &property : tag->properties()) {
            if (!all.contains(property.first)) all.insert(property.first, property.second);
        }
    };
    (add(tags), ...);
    return all;
}

/// Visits a file that its format's parser accepts.
template <class F, class Visitor> int32_t read(F &file, const Visit &visit, Visitor visit_pictures) {
    if (!file.isValid()) return sleeve_tags_invalid;
    visit.texts(file.properties());
    visit.length(file.audioProperties());
    visit_pictures(file);
    return sleeve_tags_read;
}

/// How long MPEG frames are, in milliseconds: by the Xing or VBRI header, else by the first frame's bit rate. TagLib's properties look for the
/// last frame, too, which takes three times as long.
double length_of(MPEG::File &file) {
    const auto first = file.firstFrameOffset();
    if (first < 0) return 0;
    const MPEG::Header header(&file, first, false);
    if (!header.isValid() || header.bitrate() <= 0 || header.sampleRate() <= 0) return 0;
    file.seek(first);
    const MPEG::XingHeader xing(file.readBlock(header.frameLength()));
    if (xing.isValid()) return 1000.0 * header.samplesPerFrame() * xing.totalFrames() / header.sampleRate();
    auto end = file.length();
    if (file.hasID3v1Tag()) end -= 128;
    if (file.hasAPETag()) end -= file.APETag()->footer()->completeTagSize();
    return (end - first) * 8.0 / header.bitrate();
}

/// The style that reads least of a file. The other formats say their length in a header or in the last page.
const auto style = AudioProperties::Fast;

int32_t read_file(int descriptor, const std::string &extension, const Visit &visit) {
    char head[96];
    const ssize_t count = pread(descriptor, head, sizeof head, 0);
    FileStream stream(descriptor, true);
    if (!stream.isOpen()) {
        close(descriptor);
        return sleeve_tags_invalid;
    }
    if (count <= 0) return sleeve_tags_invalid;
    const auto xiph = [&](auto &file) { visit.pictures(static_cast<Ogg::XiphComment *>(file.tag())); };
    const auto id3v2 = [&](auto &file) { visit.pictures(file.ID3v2Tag()); };
    const auto ape = [&](auto &file) { visit.pictures(file.APETag()); };
    switch (format_of(head, static_cast<size_t>(count), extension)) {
    case Format::mpeg: {
        // ADTS frames have no bit rate: what TagLib makes of them is no length.
        const bool has_frames = extension != "aac";
#if TAGLIB_MAJOR_VERSION >= 2
        MPEG::File file(&stream, false);
#else
        MPEG::File file(&stream, ID3v2::FrameFactory::instance(), false);
#endif
        if (!file.isValid()) return sleeve_tags_invalid;
        // To TagLib, any bytes are such a file, one without tags.
        const bool is_tagged = file.hasID3v2Tag() || file.hasAPETag() || file.hasID3v1Tag();
        if (!is_tagged && has_frames && file.firstFrameOffset() < 0) return sleeve_tags_invalid;
        visit.texts(merged(file.ID3v2Tag(), file.APETag(), file.ID3v1Tag()));
        if (has_frames) visit.length(length_of(file));
        visit.pictures(file.ID3v2Tag());
        visit.pictures(file.APETag());
        return sleeve_tags_read;
    }
    case Format::flac: {
#if TAGLIB_MAJOR_VERSION >= 2
        FLAC::File file(&stream, true, style);
#else
        FLAC::File file(&stream, ID3v2::FrameFactory::instance(), true, style);
#endif
        return read(file, visit, [&](FLAC::File &file) {
            visit.pictures(file.pictureList());
            if (file.hasXiphComment()) visit.pictures(file.xiphComment());
        });
    }
    case Format::vorbis: { Ogg::Vorbis::File file(&stream, true, style); return read(file, visit, xiph); }
    case Format::opus: { Ogg::Opus::File file(&stream, true, style); return read(file, visit, xiph); }
    case Format::speex: { Ogg::Speex::File file(&stream, true, style); return read(file, visit, xiph); }
    case Format::ogg_flac: { Ogg::FLAC::File file(&stream, true, style); return read(file, visit, xiph); }
    case Format::mp4: {
        MP4::File file(&stream, true, style);
        return read(file, visit, [&](MP4::File &file) { visit.pictures(file); });
    }
    case Format::asf: {
        ASF::File file(&stream, true, style);
        return read(file, visit, [&](ASF::File &file) { visit.pictures(file.tag()); });
    }
    case Format::wav: { RIFF::WAV::File file(&stream, true, style); return read(file, visit, id3v2); }
    case Format::aiff: {
        RIFF::AIFF::File file(&stream, true, style);
        return read(file, visit, [&](RIFF::AIFF::File &file) { visit.pictures(file.tag()); });
    }
    case Format::ape: { APE::File file(&stream, true, style); return read(file, visit, ape); }
    case Format::mpc: { MPC::File file(&stream, true, style); return read(file, visit, ape); }
    case Format::wavpack: { WavPack::File file(&stream, true, style); return read(file, visit, ape); }
    case Format::true_audio: { TrueAudio::File file(&stream, true, style); return read(file, visit, id3v2); }
    case Format::dsf: {
        // DSF file format specification 1.01: "DSD ", the chunk's size, the file's size, the offset of the ID3v2 tag or 0.
        if (count < 28 || std::memcmp(head, "DSD ", 4) != 0) return sleeve_tags_invalid;
        const uint64_t offset = little_endian(head + 20);
        // Then "fmt ": samples a second at 28 of its bytes, and at 36 the samples of each channel.
        if (count >= 72 && std::memcmp(head + 28, "fmt ", 4) == 0) {
            const uint64_t rate = little_endian(head + 56) & 0xFFFFFFFF, samples = little_endian(head + 64);
            if (rate > 0) visit.length(static_cast<double>(samples) * 1000 / static_cast<double>(rate));
        }
        if (offset == 0) return sleeve_tags_read;
        if (offset >= static_cast<uint64_t>(stream.length())) return sleeve_tags_invalid;
        TaggedFile file(&stream, static_cast<long>(offset));
        visit.texts(file.id3v2.properties());
        visit.pictures(&file.id3v2);
        return sleeve_tags_read;
    }
    case Format::unknown: break;
    }
    return sleeve_tags_unknown_format;
}
}

extern "C" int32_t sleeve_read_tags(int descriptor, const char *extension, const sleeve_tag_visitor *visitor) {
    // No exception may leave: the caller is not C++.
    try {
        return read_file(descriptor, extension, Visit{*visitor});
    } catch (const std::bad_alloc &) {
        return sleeve_tags_out_of_memory;
    } catch (...) {
        return sleeve_tags_exception;
    }
}
