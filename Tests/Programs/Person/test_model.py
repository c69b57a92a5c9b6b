#!/usr/bin/env python3
"""A model that sees nothing passes every run: each kind of fault is made by hand here, and has to be seen."""
import unittest

import albums, songs
from model import Fault, Folder, Model, Run


def picture(key, side=320): return albums.media.picture(key, side)


class ModelTests(unittest.TestCase):
    def setUp(self):
        self.world = albums.World("model")
        self.model = Model(self.world)
        # Two albums that services have, and their pictures.
        shown = {album: key for key, album in reversed(self.world.shows.items()) if album}
        (self.album, self.key), (self.other, self.others) = list(shown.items())[:2]
        self.folder = Folder("A/One", self.album, "flac")
        self.model.folders.append(self.folder)
        tags = {"ALBUM": "One"}
        self.files = {self.folder.at(song): songs.song("flac", tags, 200_000, song.sound) for song in self.folder.songs}
        self.cover = "A/One/cover.jpg"

    def with_picture(self, data):
        files = dict(self.files)
        for song in self.folder.songs: files[self.folder.at(song)] = songs.song("flac", {"ALBUM": "One"}, 200_000, song.sound, data)
        return files

    def run_of(self, before, after, **more):
        run = Run()
        run.writes = self.model.change(before, after, **more)
        self.model.runs.append(run)
        return run

    def sees(self, kind, before, after, **more):
        with self.assertRaises(Fault) as caught: self.model.change(before, after, **more)
        self.assertEqual(caught.exception.kind, kind)

    def test_the_cover_of_the_album_is_right_beside_its_songs_and_in_their_tags(self):
        data = picture(self.key)
        self.model.change(self.files, {**self.files, self.cover: data})
        self.model.change(self.files, self.with_picture(data))

    def test_another_albums_cover_is_wrong_and_an_accepted_one_is_not(self):
        after = {**self.files, self.cover: picture(self.others)}
        self.sees("wrong", self.files, after)
        self.sees("tags-wrong", self.files, self.with_picture(picture(self.others)))
        self.model.say("accepted", self.album, [self.others])
        self.model.change(self.files, after)

    def test_what_one_album_accepted_is_not_written_for_its_namesake(self):
        self.model.say("accepted", self.other, [self.others])
        self.world.shows[self.others] = None
        self.sees("namesake", self.files, {**self.files, self.cover: picture(self.others)})

    def test_a_refused_picture_is_not_written_until_it_is_allowed(self):
        after = {**self.files, self.cover: picture(self.key)}
        self.model.say("refused", self.album, [self.key])
        self.sees("refused", self.files, after)
        self.sees("tags-refused", self.files, self.with_picture(picture(self.key)))
        self.model.say("allowed", self.album, [self.key])
        self.model.change(self.files, after)

    def test_no_other_picture_is_written_where_one_is_accepted(self):
        self.model.say("accepted", self.album, [self.others])
        self.sees("not-accepted", self.files, {**self.files, self.cover: picture(self.key)})

    def test_a_removed_cover_is_not_written_again_until_it_is_accepted(self):
        after = {**self.files, self.cover: picture(self.key)}
        self.folder.pending[self.key] = self.folder.signature()
        self.folder.scanned = self.folder.path
        self.sees("removed", self.files, after)
        self.model.notice(lambda folder: True)
        self.sees("removed", self.files, after)
        self.model.say("accepted", self.album, [self.key])
        self.model.change(self.files, after)

    def test_a_removal_is_none_if_its_songs_are_gone_too(self):
        self.folder.pending[self.key] = self.folder.signature()
        self.folder.songs = self.folder.songs[:2]
        self.model.notice(lambda folder: True)
        self.model.change(self.files, {**self.files, self.cover: picture(self.key)})

    def test_the_persons_files_stay(self):
        mine = {**self.files, self.cover: picture("mine1")}
        self.sees("person's", mine, self.files)
        self.sees("person's", mine, {**self.files, self.cover: picture(self.key)})
        self.sees("person's", self.with_picture(picture("mine1")), self.with_picture(picture(self.key)))
        self.sees("place", self.files, {**self.files, "A/cover.jpg": picture(self.key)})
        self.sees("song", self.files, {})

    def test_songs_keep_their_audio_and_tags(self):
        path, other = self.folder.at(self.folder.songs[0]), songs.song("flac", {"ALBUM": "Two"}, 200_000, self.folder.songs[0].sound, picture(self.key))
        self.sees("tags", self.files, {**self.files, path: other})
        other = songs.song("flac", {"ALBUM": "One"}, 200_000, "noise", picture(self.key))
        self.sees("audio", self.files, {**self.files, path: other})

    def test_cut_pictures_are_seen(self):
        self.sees("whole", self.files, {**self.files, self.cover: picture(self.key)[:-40]})

    def test_undo_takes_back_one_run(self):
        first, second = {**self.files, self.cover: picture(self.key)}, {**self.files, self.cover: picture(self.key, 600)}
        for after in (first, second): self.run_of(self.files if after is first else first, after)
        with self.assertRaises(Fault): self.model.undo(second, self.files)
        self.setUp()
        for after in (first, second): self.run_of(self.files if after is first else first, after)
        self.model.undo(second, first)
        self.model.undo(first, self.files)
        self.assertEqual(self.model.runs, [])

    def test_undo_leaves_what_the_person_changed(self):
        first, changed = {**self.files, self.cover: picture(self.key)}, {**self.files, self.cover: picture("mine1")}
        self.run_of(self.files, first)
        with self.assertRaises(Fault): self.model.undo(changed, self.files)

    def test_undo_puts_no_cover_back_beside_another_albums_songs(self):
        first, second = {**self.files, self.cover: picture(self.key)}, {**self.files, self.cover: picture(self.others)}
        self.run_of(self.files, first)
        self.folder.album = self.other
        self.run_of(first, second)
        with self.assertRaises(Fault) as caught: self.model.undo(second, first)
        self.assertEqual(caught.exception.kind, "undo-former")

    def test_an_acceptance_that_was_taken_back_permits_nothing(self):
        run = self.run_of(self.files, self.files)
        run.said = self.model.say("accepted", self.album, [self.others])
        self.model.undo(self.files, self.files)
        self.sees("wrong", self.files, {**self.files, self.cover: picture(self.others)})

    def test_an_unwatched_fill_does_not_write_what_undo_took_back(self):
        after = {**self.files, self.cover: picture(self.key)}
        self.run_of(self.files, after)
        self.model.undo(after, self.files)
        self.sees("taken-back", self.files, after, is_quiet=True)
        self.model.change(self.files, after)


class SongTests(unittest.TestCase):
    def test_what_is_written_is_read(self):
        for format in ("flac", "mp3"):
            with_picture, without = (songs.Parts(songs.song(format, {"ALBUM": "One"}, 200_000, "sound", data)) for data in (picture("p1"), None))
            self.assertEqual((with_picture.picture, without.picture), (picture("p1"), None))
            self.assertEqual((with_picture.audio, with_picture.tags), (without.audio, without.tags))


class WorldTests(unittest.TestCase):
    def test_a_seed_determines_the_world(self):
        first, again = albums.World("7"), albums.World("7")
        self.assertEqual(first.releases, again.releases)
        self.assertNotEqual(first.releases, albums.World("8").releases)
        self.assertGreaterEqual(len(first.albums), 40)
        names = [(album.artist, album.title) for album in first.albums]
        self.assertLess(len(set(names)), len(names))


if __name__ == "__main__":
    unittest.main()
