-- Made after a bulk load: filling them row by row would be slower.
CREATE INDEX IF NOT EXISTS entity_title ON entities (title);
CREATE INDEX IF NOT EXISTS identifier_entity ON identifiers (entity);
CREATE INDEX IF NOT EXISTS type_child ON type_parents (parent);
