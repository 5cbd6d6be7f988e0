-- +goose Up
-- The users that were made on any node, and those that were removed. A record is JSON; nodes merge records of a name.
CREATE TABLE users (
    name       text PRIMARY KEY CHECK (length(name) <= 64),
    changed_at timestamptz NOT NULL,
    gone       bool NOT NULL DEFAULT false,
    record     text NOT NULL
);

-- edition is another one after each change of users: nodes look at it, and read them all when it differs.
CREATE TABLE users_edition (
    one     bool PRIMARY KEY DEFAULT true CHECK (one),
    edition uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO users_edition DEFAULT VALUES;

-- What users of each node used in each day. Only the node itself writes its rows.
CREATE TABLE usage (
    day           date NOT NULL,
    name          text NOT NULL,
    node          text NOT NULL,
    requests      bigint NOT NULL,
    bytes         bigint NOT NULL,
    pages         bigint NOT NULL,
    tokens        bigint NOT NULL,
    html_tokens   bigint NOT NULL,
    tokens_saved  bigint NOT NULL,
    PRIMARY KEY (day, name, node)
);

-- +goose Down
DROP TABLE usage;
DROP TABLE users_edition;
DROP TABLE users;
