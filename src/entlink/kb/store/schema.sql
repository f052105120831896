-- The store of a knowledge base. Keys are integers inside; ids are the user's own.
-- Version 3. `entlink.kb.store.upgrade` brings older stores here.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One row an entity: its current (latest) version. `record` is the JSON of the Entity less id and title; in a store
-- that shares its texts (`texts_at` in `meta` says where they are), with numbers in place of the description.
-- `weight` is the pseudo-count each of its names has, for entities added after the texts were counted.
CREATE TABLE entities (
    key INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again: the counts go on naming a removed entity's
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    valid_from TEXT,
    valid_to TEXT,
    weight INTEGER NOT NULL DEFAULT 0,
    record TEXT NOT NULL
);
CREATE UNIQUE INDEX entity_id ON entities (id);

-- The other dated versions `[valid_from, valid_to)` of an entity, as they were given; dates are those of `in_utc`.
CREATE TABLE versions (
    entity INTEGER NOT NULL,
    valid_from TEXT NOT NULL,
    valid_to TEXT,
    title TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (entity, valid_from)
) WITHOUT ROWID;

-- The links in a description, which is known by its checksum: `entlink.kb.hyperlinks` reads and writes them.
-- Came without a new version: a store that lacks the table has none, and needs no upgrade.
CREATE TABLE hyperlinks (
    entity INTEGER NOT NULL,
    description INTEGER NOT NULL,
    links BLOB NOT NULL,
    PRIMARY KEY (entity, description)
);

-- Names that the opening of a description gives: whether each holds, and what it redirects from, if anything.
-- `entlink.kb.opening_store` reads and writes them. Came without a new version, as the table before it did.
CREATE TABLE opening_names (
    entity INTEGER NOT NULL,
    name TEXT NOT NULL,
    holds INTEGER NOT NULL,
    redirect TEXT,
    PRIMARY KEY (entity, name)
) WITHOUT ROWID;

-- Identifiers in other schemes: a Wikidata id, a Wikipedia title, an address.
CREATE TABLE identifiers (
    value TEXT NOT NULL,
    scheme TEXT NOT NULL,
    entity INTEGER NOT NULL,
    PRIMARY KEY (value, scheme, entity)
) WITHOUT ROWID;

-- A title or id that stands for another one.
CREATE TABLE redirects (
    source TEXT PRIMARY KEY,
    target TEXT NOT NULL
) WITHOUT ROWID;

-- What a type is called, and the more general types it is a kind of. Came without a new version: a store that lacks
-- these two tables has types without a hierarchy.
CREATE TABLE type_names (
    type TEXT PRIMARY KEY,
    name TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE type_parents (
    type TEXT NOT NULL,
    parent TEXT NOT NULL,
    PRIMARY KEY (type, parent)
) WITHOUT ROWID;

CREATE TABLE types (
    type TEXT NOT NULL,
    entity INTEGER NOT NULL,
    PRIMARY KEY (type, entity)
) WITHOUT ROWID;

-- What changed since the alias index was made; readers lay it over the index.
CREATE TABLE edits (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    entity INTEGER NOT NULL,
    operation TEXT NOT NULL CHECK (operation IN ('put', 'remove')),
    time TEXT NOT NULL
);

-- "Always link this surface to that entity" and, where entity is null, "never link this surface".
CREATE TABLE rules (
    surface TEXT NOT NULL,
    case_sensitive INTEGER NOT NULL DEFAULT 0,
    entity INTEGER,
    PRIMARY KEY (surface, case_sensitive)
) WITHOUT ROWID;
