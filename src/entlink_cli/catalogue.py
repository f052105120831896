"""Every command with the module it lives in and the line that help shows for it."""

from __future__ import annotations


class Entry:
    """Where a command lives, and what it does in a few words."""

    def __init__(self, module: str, summary: str) -> None:
        self.module, self.summary = module, summary


CATALOGUE: dict[str, Entry] = {
    "link": Entry("link", "link the names in texts, conversations or documents"),
    "explain": Entry("explain", "say why a span of a text was or was not linked"),
    "chat": Entry("chat", "link a conversation turn by turn, as it is typed"),
    "evaluate": Entry("evaluate", "score predictions against gold, and say which stage lost what"),
    "compare": Entry("evaluate", "compare two runs over the same gold, with a test"),
    "probe": Entry("probe", "measure what the vectors of encoders know of entities"),
    "report": Entry("report", "write a page on one or several runs, with CSV and LaTeX beside it"),
    "tune": Entry("tune", "choose the settings of a linker on documents with gold"),
    "calibrate": Entry("calibrate", "fit probabilities and a threshold for NIL to a linker, without annotated data"),
    "train": Entry("train.models", "train a bi-encoder, a cross-encoder or a joint model on gold"),
    "train names": Entry("train.names", "learn from documents with gold what surfaces are linked to"),
    "train entities": Entry(
        "train.entities", "learn a vector for each entity from documents with gold, by what is linked together"
    ),
    "train detector": Entry("train.detector", "learn from documents with gold which spans of texts are to be linked"),
    "train entelmo": Entry("train.entelmo", "train an encoder of entities on hyperlinks with descriptions"),
    "train personal": Entry("train.personal", "fit what resolves personal mentions, on conversations with gold"),
    "adapt": Entry("adapt", "learn a knowledge base from its own texts and links, without annotated data"),
    "stages": Entry("stages", "list the stages a linker can be made of"),
    "kb build": Entry("kb.build", "build a knowledge base from tables, articles or vocabularies"),
    "kb index": Entry("kb.build", "fold the edits since the last index into a new one"),
    "kb merge": Entry("kb.build", "merge knowledge bases into a new one"),
    "kb split": Entry(
        "kb.split", "split a knowledge base into known and new entities, to train without the new ones"
    ),
    "kb export": Entry("kb.build", "write all entities as JSON lines"),
    "kb upgrade": Entry("kb.build", "bring a knowledge base of an older release up to this one"),
    "kb info": Entry("kb.look", "count what is in a knowledge base, and check its files"),
    "kb show": Entry("kb.look", "show an entity with its versions and names"),
    "kb search": Entry("kb.look", "find entities by name, beginning or spelling"),
    "kb aliases": Entry("kb.look", "show what a name may mean, and how likely"),
    "kb types": Entry("kb.types", "count types, and say which are kinds of which"),
    "kb rules": Entry("kb.look", "list pins and blocks"),
    "kb snapshots": Entry("kb.snapshots", "list the dates that a knowledge base has snapshots of"),
    "kb diff": Entry("kb.snapshots", "say what changed between two dates, or two knowledge bases"),
    "kb add": Entry("kb.change", "add an entity, or those of a table"),
    "kb remove": Entry("kb.change", "remove entities"),
    "kb sync": Entry("kb.change", "bring a knowledge base in line with a table"),
    "kb pin": Entry("kb.change", "make a name always mean one entity"),
    "kb block": Entry("kb.change", "make a name never be linked"),
    "kb unpin": Entry("kb.change", "lift the pins and blocks on a name"),
    "datasets build": Entry("datasets.build", "make a corpus with gold links from a wiki's dump or articles"),
    "datasets build conversations": Entry(
        "datasets.conversations", "make a set of threads with gold from ConvoKit's corpora of Reddit"
    ),
    "datasets build captions": Entry(
        "datasets.captions", "make a set of captioned pictures with gold from a wiki's captions"
    ),
    "datasets build temporal": Entry(
        "datasets.temporal", "make a set of mentions over time with gold from a wiki's full history"
    ),
    "datasets build probes": Entry("datasets.probes", "build a probing task of EntEval from its source"),
    "datasets build wikient": Entry(
        "datasets.wikient", "make a set of sentences with links and the descriptions of what they link to"
    ),
    "datasets list": Entry("datasets.look", "list the datasets entlink has a card of"),
    "datasets info": Entry("datasets.look", "show what a dataset measures, its licence, and how to get it"),
    "datasets convert": Entry("datasets.convert", "write documents in another format: NIF, AIDA, BLINK, neleval, …"),
    "datasets check": Entry("datasets.look", "tell which dataset files are, and whether every record can be read"),
    "study candidates": Entry(
        "study.retrieval", "measure candidate retrieval: recall, ranks and time of each retriever"
    ),
    "study unfamiliar-kb": Entry(
        "study.retrieval", "measure linking against a knowledge base that nothing was learnt from"
    ),
    "study conversation": Entry(
        "study.conversation", "measure linking in conversations, beside other systems and published scores"
    ),
    "study time": Entry("study.time", "measure linking over the snapshots of a temporal dataset, with a page"),
    "study few-shot": Entry(
        "study.few_shot", "measure linking where the most popular entity of a name is not the right one"
    ),
    "study pictures": Entry("study.pictures", "measure what pictures are worth for linking captions, with a page"),
    "models pull": Entry("models", "get a model that turns texts into vectors"),
    "models train": Entry("models", "train word vectors on the texts of a knowledge base"),
    "models list": Entry("models", "list the models that are here"),
    "models info": Entry("models", "show where a model came from, and check its files"),
    "models rm": Entry("models", "remove a model"),
}

GROUPS: dict[str, str] = {
    "kb": "make, look into and change knowledge bases",
    "datasets": "corpora to train on and to measure with: make, list and check them",
    "study": "studies of retrieval and linking, as papers make them",
    "models": "models that turn texts into vectors: get, train, list and remove them",
}

EXIT_CODES: dict[int, str] = {
    0: "done",
    1: "another error, such as a full disk",
    2: "wrong usage",
    3: "an input, record or argument is wrong",
    4: "the knowledge base: missing, damaged, of another version, or no such entity",
    5: "another process is writing to the knowledge base",
    6: "an optional part is not installed, or a model is not here",
    130: "interrupted",
    141: "whoever read the output stopped reading",
}

ABOUT = "Link mentions in texts and conversations to the entities of your own knowledge base."
FIRST_STEPS = (
    "entlink kb build samples/products.csv -o shop.kb",
    "entlink link shop.kb samples/chat.txt",
    "entlink explain shop.kb 'Is the Heron waterproof?' --surface Heron",
)
