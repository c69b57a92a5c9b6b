"""What a seed determines, and the codes of RFC 7541: `python3 -m unittest discover -s Tests/Programs/Hostile`."""
import http.client, io, unittest

import hpack, plans


class Socket(io.BytesIO):
    def makefile(self, mode):
        return self


class Plans(unittest.TestCase):
    def test_a_seed_determines_the_answers(self):
        for number in range(200):
            for is_http2 in (False, True):
                first, again = (plans.Scenario("a", 240).answers(number, 1, is_http2) for _ in range(2))
                self.assertEqual(first, again)
        other = [plans.Scenario("b", 240).answers(number, 1, False) for number in range(200)]
        self.assertNotEqual(other, [plans.Scenario("a", 240).answers(number, 1, False) for number in range(200)])

    def test_no_two_covers_have_the_same_bytes(self):
        self.assertEqual(len({plans.picture(number, version) for number in range(240) for version in range(3)}), 720)

    def test_what_is_owed_arrives_after_a_retry(self):
        for number in filter(plans.Scenario("a", 240).is_mild, range(240)):
            for is_http2 in (False, True):
                answers = plans.Scenario("a", 240).answers(number, 0, is_http2)
                self.assertEqual([answer.kind for answer in answers[:-1]], ["broken"] * (len(answers) - 1))
                self.assertTrue(len(answers) <= 2 and answers[-1].kind == "right")
                self.assertEqual(answers[-1].whole, plans.picture(number))

    def test_another_client_gets_the_right_bytes_from_a_right_answer(self):
        for number in range(240):
            for answer in plans.Scenario("a", 240).answers(number, 0, False):
                sent = [step[1] for step in answer.steps or [("send", plans.plain(answer))] if step[0] == "send"]
                if answer.kind == "right" and answer.name in ("right", "chunked", "old", "until_the_end", "slow", "closing", "drip"):
                    response = http.client.HTTPResponse(Socket(b"".join(sent)))
                    response.begin()
                    self.assertEqual(response.read(), answer.whole)

    def test_header_blocks_of_rfc_7541_are_decoded(self):
        decoder = hpack.Decoder()
        # Appendices C.4.1 and C.4.2, whose fields that have no meaning here are without a name.
        self.assertIn((":path", "/"), decoder.fields(bytes.fromhex("828684418cf1e3c2e5f23a6ba0ab90f4ff")))
        self.assertEqual(decoder.table, [("", "www.example.com")])
        self.assertIn(("", "no-cache"), decoder.fields(bytes.fromhex("828684be5886a8eb10649cbf")))
        self.assertEqual(hpack.Decoder().fields(hpack.encoded([("x-long", "y" * 300)])), [("x-long", "y" * 300)])


if __name__ == "__main__":
    unittest.main()
