-- Version 1 kept pins and blocks in two tables and knew no case-sensitive ones.
CREATE TABLE rules (
    surface TEXT NOT NULL,
    case_sensitive INTEGER NOT NULL DEFAULT 0,
    entity INTEGER,
    PRIMARY KEY (surface, case_sensitive)
) WITHOUT ROWID;
INSERT OR REPLACE INTO rules SELECT surface, 0, entity FROM pins;
INSERT OR REPLACE INTO rules SELECT surface, 0, NULL FROM blocks;
DROP TABLE pins;
DROP TABLE blocks;
