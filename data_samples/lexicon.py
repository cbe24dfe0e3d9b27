"""The words of the samples: every list is a category; within a list, earlier words are more frequent."""

from __future__ import annotations

from random import Random

# Closed-class words: form -> (lemma, universal tag, fine tag).
CLOSED = """
where/where/ADV/WRB when/when/ADV/WRB why/why/ADV/WRB how/how/ADV/WRB who/who/PRON/WP what/what/PRON/WP
what_d/what/DET/WDT which/which/DET/WDT that/that/PRON/WDT the/the/DET/DT a/a/DET/DT this/this/DET/DT
many/many/ADJ/JJ much/much/ADJ/JJ first/first/ADJ/JJ best/good/ADJ/JJS full/full/ADJ/JJ is/be/AUX/VBZ
was/be/AUX/VBD do/do/AUX/VBP does/do/AUX/VBZ did/do/AUX/VBD would/would/AUX/MD will/will/AUX/MD
n't/not/PART/RB not/not/PART/RB never/never/ADV/RB to/to/PART/TO in/in/ADP/IN of/of/ADP/IN for/for/ADP/IN
through/through/ADP/IN with/with/ADP/IN near/near/ADP/IN between/between/ADP/IN at/at/ADP/IN
without/without/ADP/IN and/and/CCONJ/CC you/you/PRON/PRP i/i/PRON/PRP we/we/PRON/PRP it/it/PRON/PRP
my/my/PRON/PRP$ ?/?/PUNCT/. live/live/VERB/VB stand/stand/VERB/VB mean/mean/VERB/VB work/work/VERB/VB
cost/cost/VERB/VB born/bear/VERB/VBN take/take/VERB/VB flows/flow/VERB/VBZ happen/happen/VERB/VB
name/name/VERB/VB tell/tell/VERB/VB people/people/NOUN/NNS name_n/name/NOUN/NN year/year/NOUN/NN
kind/kind/NOUN/NN word/word/NOUN/NN me/i/PRON/PRP capital/capital/NOUN/NN difference/difference/NOUN/NN
abbreviation/abbreviation/NOUN/NN color/color/NOUN/NN letters/letter/NOUN/NNS long/long/ADV/RB
called/call/VERB/VBN found/find/VERB/VBN origin/origin/NOUN/NN use_n/use/NOUN/NN
"""
FUNCTION = {entry.split("/")[0]: tuple(entry.split("/")[1:]) for entry in CLOSED.split()}
FUNCTION["."] = (".", "PUNCT", ".")

# Open classes: category -> (universal tag, words).
OPEN = {
    "animal": (
        "NOUN",
        """dog cat horse bird whale spider snake bear rabbit shark eagle frog turtle camel goat beetle
        owl otter badger lizard salmon heron moth hedgehog walrus stork weasel gecko""",
    ),
    "food": (
        "NOUN",
        """bread cheese soup rice cake egg salad apple pepper noodle onion bean lentil pancake plum
        dumpling almond turnip radish pear""",
    ),
    "plant": ("NOUN", "tree rose oak tulip cactus fern moss pine orchid willow thistle birch clover daisy"),
    "tool": (
        "NOUN",
        """hammer knife clock camera saw needle lamp compass ladder drill telescope lantern chisel
        pulley loom anvil sundial""",
    ),
    "vehicle": (
        "NOUN",
        "car train ship plane bicycle truck boat tram rocket tractor ferry balloon sledge canoe",
    ),
    "landmark": (
        "NOUN",
        """bridge tower museum castle temple lake mountain desert stadium harbor canal palace
        volcano waterfall lighthouse valley cathedral glacier""",
    ),
    "occupation": (
        "NOUN",
        """president king singer painter actor writer captain scientist queen pilot chemist
        explorer poet farmer nurse dancer baker architect judge sculptor astronomer""",
    ),
    "artifact": (
        "NOUN",
        """novel song opera machine painting film telephone engine poem statue symphony map
        vaccine theory piano radio alphabet microscope battery calendar""",
    ),
    "event": (
        "NOUN",
        "war election race festival flood fire treaty strike storm revolution earthquake parade siege",
    ),
    "disease": ("NOUN", "cold fever cough flu headache rash burn asthma measles sunburn toothache"),
    "concept": (
        "NOUN",
        """gravity inflation democracy music justice energy religion magnetism evolution grammar
        poverty electricity irony osmosis friction nostalgia entropy erosion""",
    ),
    "body": ("NOUN", "heart eye brain bone tooth liver skin lung muscle ear kidney shoulder"),
    "sport": ("NOUN", "football tennis chess hockey golf rugby cricket rowing fencing archery"),
    "quantity": ("NOUN", "height population length weight speed age temperature distance price depth width"),
    "kindword": ("NOUN", "animal plant food tool game instrument language metal drink fruit insect flower"),
    "placeword": ("NOUN", "city country river state town island continent province ocean"),
    "sized": ("ADJ", "tall long big old fast deep heavy high wide cold expensive bright"),
    "adj": ("ADJ", "old new large famous wild small red green ancient blue modern young rare quiet narrow"),
    "make": (
        "VERB",
        """invent write build discover paint design compose create found produce record finance
        publish patent sponsor""",
    ),
    "act": ("VERB", """eat use need carry hunt fear like protect attract chase avoid guard hide follow"""),
    "happen": (
        "VERB",
        "sleep sing migrate fight hibernate dance jump change hide grow shiver whistle molt yawn",
    ),
    "handle": ("VERB", "clean repair cook measure grow sell train draw paint polish sharpen plant weigh"),
    # reviews
    "dish": (
        "NOUN",
        "soup fish steak pizza salad coffee dessert pasta bread sauce curry omelette burger tart",
    ),
    "venue": ("NOUN", "place restaurant hotel room kitchen terrace bar cafe lobby garden"),
    "staff": ("NOUN", "waiter staff manager cook owner barman receptionist hostess porter"),
    "goodadj": (
        "ADJ",
        """good great fresh friendly tasty clean warm lovely excellent cosy helpful generous crisp
        charming superb delicate splendid""",
    ),
    "badadj": (
        "ADJ",
        """bad cold rude dirty slow bland awful stale noisy greasy soggy dull gloomy careless
        tasteless sour dismal""",
    ),
    "neutraladj": ("ADJ", "small large busy quiet old new simple local spicy dark early"),
    "degree": ("ADV", "very really quite rather so too extremely fairly surprisingly"),
    "goodverb": ("VERB", "love enjoy recommend praise like admire"),
    "badverb": ("VERB", "hate regret avoid dislike return resent"),
    "goodnoun": ("NOUN", "pleasure treat gem delight bargain surprise"),
    "badnoun": ("NOUN", "disaster mess letdown shame mistake insult"),
}
IRREGULAR = {  # third person, past, participle, gerund
    "write": "writes wrote written writing",
    "build": "builds built built building",
    "eat": "eats ate eaten eating",
    "sleep": "sleeps slept slept sleeping",
    "sing": "sings sang sung singing",
    "fight": "fights fought fought fighting",
    "hide": "hides hid hidden hiding",
    "grow": "grows grew grown growing",
    "sell": "sells sold sold selling",
    "draw": "draws drew drawn drawing",
    "molt": "molts molted molted molting",
}
PLURALS = {
    "tooth": "teeth",
    "fish": "fish",
    "staff": "staff",
    "cactus": "cacti",
    "salmon": "salmon",
    "knife": "knives",
}
FINE_TAGS = {"NOUN": "NN", "PROPN": "NNP", "ADJ": "JJ", "ADV": "RB", "VERB": "VB", "NUM": "CD"}
VERB_TAGS = {"s": "VBZ", "ed": "VBD", "en": "VBN", "ing": "VBG"}


ONSETS = [*"bdfghklmnprstvwz", "br", "dr", "gr", "kl", "st", "tr"]
NUCLEI = [*"aeiou", "ai", "ea", "or", "al"]


def _syllables(rng: Random, parts: int) -> str:
    return "".join(pick(rng, ONSETS) + pick(rng, NUCLEI) for _ in range(parts))


def pick(rng: Random, items: list[str]) -> str:
    """One item, all equally likely; by ``random()`` alone, whose numbers are the same in every Python."""
    return items[int(rng.random() * len(items))]


def invented_names(rng: Random) -> dict[str, tuple[str, list[str]]]:
    """Categories of proper names that nobody bears."""

    def names(count: int, ending: list[str], parts: int) -> list[str]:
        made: dict[str, None] = {}
        while len(made) < count:
            made[_syllables(rng, parts) + pick(rng, ending)] = None
        return list(made)

    letters = list("bcdfghjklmnpqrstvwz")
    return {
        "city": ("PROPN", names(220, ["ville", "burg", "ton", "mouth"], 2)),
        "country": ("PROPN", names(60, ["nia", "land", "stan"], 2)),
        "first": ("PROPN", names(150, ["n", "s", "la", "ric"], 1)),
        "last": ("PROPN", names(400, ["son", "ck", "man", "wick"], 2)),
        "abbr": ("PROPN", ["".join(pick(rng, letters) for _ in range(3 + (i % 3 == 0))) for i in range(150)]),
        "coined": ("NOUN", names(500, ["ing", "le", "sh", "ock"], 2)),
    }


def plural(word: str) -> str:
    """The plural of a noun."""
    if word in PLURALS:
        return PLURALS[word]
    if word[-1] == "y" and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def conjugate(verb: str, ending: str) -> str:
    """A form of a verb: ``s``, ``ed`` (past), ``en`` (participle) or ``ing``."""
    if verb in IRREGULAR:
        return IRREGULAR[verb].split()[("s", "ed", "en", "ing").index(ending)]
    if ending == "s":
        return plural(verb)
    suffix = "ing" if ending == "ing" else "ed"
    if suffix == "ed" and verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return (verb[:-1] if verb.endswith("e") else verb) + suffix
