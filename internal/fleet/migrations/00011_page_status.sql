-- +goose Up
-- The status by which the origin of a page calls it gone, 404 or 410; else 0.
ALTER TABLE pages ADD COLUMN status int NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE pages DROP COLUMN status;
