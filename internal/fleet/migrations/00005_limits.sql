-- +goose Up
-- Requests to a service that all nodes together have made in a day.
CREATE TABLE spent (
    service text NOT NULL,
    day     date NOT NULL,
    times   bigint NOT NULL,
    PRIMARY KEY (service, day)
);

-- When the next request of a crawl to a host may begin, whichever node makes it.
CREATE TABLE turns (
    host text PRIMARY KEY,
    next timestamptz NOT NULL
);

-- +goose Down
DROP TABLE turns;
DROP TABLE spent;
