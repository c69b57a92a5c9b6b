-- The tables of the queue. A host is leased by one worker at a time, so that the limits of requests to a host hold for all machines
-- together. The clock of the database is the only one that is compared.
create table if not exists host (
  host text primary key,
  owner text,
  epoch bigint not null default 0,
  until timestamptz not null default '-infinity',
  rest timestamptz not null default '-infinity'
);

-- The key is a hash: a B-tree takes no text of 4 KB. due is infinity once the cover is settled.
create table if not exists cover (
  key bytea primary key,
  url text not null,
  host text not null references host,
  due timestamptz not null default '-infinity',
  tries smallint not null default 0,
  outcome text,
  digest text,
  error text
);

create index if not exists cover_due on cover (host, due, key) where due < 'infinity';
