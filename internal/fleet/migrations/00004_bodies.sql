-- +goose Up
-- A content that is not in its row is in an object store, by its hash.
ALTER TABLE responses ALTER COLUMN body DROP NOT NULL;

CREATE INDEX responses_in_bucket ON responses (body_hash) WHERE body IS NULL;
CREATE INDEX pages_in_bucket ON pages (body_hash) WHERE body IS NULL AND gone_at IS NULL;

-- Contents that were missing in the object store, or something else there: who has one puts it again.
CREATE TABLE lost (
    hash        bytea PRIMARY KEY CHECK (length(hash) = 32),
    told_at     timestamptz NOT NULL DEFAULT now(),
    times       int NOT NULL DEFAULT 0,
    repaired_at timestamptz
);

-- +goose Down
DROP TABLE lost;
DROP INDEX pages_in_bucket;
DROP INDEX responses_in_bucket;
DELETE FROM responses WHERE body IS NULL;
ALTER TABLE responses ALTER COLUMN body SET NOT NULL;
