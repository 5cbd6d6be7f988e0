-- +goose Up
-- How often a lease was taken since its holder last told something under it, or gave it back.
ALTER TABLE leases ADD COLUMN taken int NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE leases DROP COLUMN taken;
