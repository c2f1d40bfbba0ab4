/**
 * The tables of a cluster and the functions that change them. Everything that a tick decided is one call of `append`:
 * it locks the one row of `head`, which is never changed, checks who writes, and assigns the numbers. So numbers follow
 * the order of the commits, without a gap, and a host that was declared dead can no longer store anything. Tables
 * change only by additions, so that a host of the previous release can still read them.
 */

/** Increases when tables or functions change. */
export const SCHEMA_LEVEL = 2;
/** The owner of this channel works on every channel without another owner. */
export const ROOT_OWNER = 'ahp-root://';
/**
 * Numbers that are skipped when the engine may have lost the newest ones: clients then get snapshots, never a wrong
 * replay.
 */
export const SKIPPED_NUMBERS = 1_000_000;
/** How many commits of each living term the engine remembers. */
export const COMMITS_KEPT = 1_000;
/** A host that reads records hears of removals that are at most this many changes ago. */
export const RECORD_CHANGES_KEPT = 100_000;

/** The SQLSTATE codes with which our functions refuse. */
export const REFUSED = {
  fenced: 'AT001',
  /** The previous commit is missing, because the engine has lost it. */
  older: 'AT002',
  /** The host gave up this commit and continued without it. */
  givenUp: 'AT003',
  turnHole: 'AT004',
  turnsPresent: 'AT005',
  /** Another host owns channels of the commit, or no host does; the detail names them, as JSON. */
  notOwner: 'AT006',
} as const;

const TABLES = `
CREATE TABLE meta (
  id int PRIMARY KEY CHECK (id = 1),
  level int NOT NULL,
  cluster text NOT NULL,
  timeline bigint,
  token_digest text,
  secret_digest text
);
CREATE TABLE head (id int PRIMARY KEY CHECK (id = 1));
INSERT INTO head VALUES (1);
-- One row. Up to \`dropped\`, archives hold what entries did; numbers up to \`skipped\` were given up.
CREATE TABLE numbers (id int PRIMARY KEY CHECK (id = 1), dropped bigint NOT NULL, skipped bigint NOT NULL);
INSERT INTO numbers VALUES (1, 0, 0);
CREATE TABLE hosts (
  id text COLLATE "C" PRIMARY KEY,
  term bigint NOT NULL,
  alive boolean NOT NULL,
  beat bigint NOT NULL,
  link text,
  version text NOT NULL,
  level int NOT NULL,
  wanted text,
  facts text NOT NULL DEFAULT '{}',
  joined_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE owners (channel text COLLATE "C" PRIMARY KEY, host text NOT NULL, term bigint NOT NULL);
-- The n-th commit of a term; without numbers when the host went on without it.
CREATE TABLE commits (
  host text COLLATE "C" NOT NULL, term bigint NOT NULL, n bigint NOT NULL,
  first bigint, last bigint,
  PRIMARY KEY (host, term, n)
);
CREATE TABLE volumes (id text PRIMARY KEY, path text NOT NULL UNIQUE, added_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE entries (
  seq bigint PRIMARY KEY,
  channel text COLLATE "C" NOT NULL,
  time bigint NOT NULL,
  action text NOT NULL,
  client_id text COLLATE "C",
  epoch bigint,
  client_seq bigint
);
CREATE INDEX entries_by_channel ON entries (channel, seq);
CREATE TABLE client_numbers (
  client_id text COLLATE "C" NOT NULL, epoch bigint NOT NULL, client_seq bigint NOT NULL, seq bigint NOT NULL,
  CONSTRAINT client_numbers_once PRIMARY KEY (client_id, epoch, client_seq)
);
CREATE TABLE archives (channel text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL, head text NOT NULL);
CREATE TABLE turns (
  channel text COLLATE "C" NOT NULL, idx bigint NOT NULL, id text COLLATE "C" NOT NULL, json text NOT NULL,
  PRIMARY KEY (channel, idx)
);
CREATE INDEX turns_by_id ON turns (channel, id);
CREATE TABLE records (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);
`;

/**
 * Each change of a record has its own number, assigned under the lock of `head`, because a commit of records alone has
 * none.
 */
const RECORD_CHANGES = `
CREATE SEQUENCE record_changes;
ALTER TABLE records ADD COLUMN changed bigint NOT NULL DEFAULT nextval('record_changes');
CREATE INDEX records_by_change ON records (changed);
CREATE TABLE removed_records (key text COLLATE "C" PRIMARY KEY, changed bigint NOT NULL DEFAULT nextval('record_changes'));
CREATE INDEX removed_records_by_change ON removed_records (changed);
`;

const FUNCTIONS = `
-- Stable: within a statement it sees what the statement sees. Otherwise a reader would be told a head beyond what it has read.
CREATE OR REPLACE FUNCTION last_number() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT greatest((SELECT max(seq) FROM entries), (SELECT greatest(dropped, skipped) FROM numbers))
$$;

-- Of the engine's write-ahead log; null where the engine does not tell.
CREATE OR REPLACE FUNCTION timeline() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
  RETURN ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint;
EXCEPTION WHEN OTHERS THEN RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION check_owner(who text, its_term bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM hosts WHERE id = who AND term = its_term AND alive) THEN
    RAISE EXCEPTION 'host % (term %) was declared dead', who, its_term USING ERRCODE = '${REFUSED.fenced}';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM owners WHERE channel = '${ROOT_OWNER}' AND host = who AND term = its_term) THEN
    RAISE EXCEPTION 'host % (term %) is not the active one', who, its_term USING ERRCODE = '${REFUSED.fenced}';
  END IF;
END $$;

CREATE OR REPLACE FUNCTION check_alive(who text, its_term bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM hosts WHERE id = who AND term = its_term AND alive) THEN
    RAISE EXCEPTION 'host % (term %) was declared dead', who, its_term USING ERRCODE = '${REFUSED.fenced}';
  END IF;
END $$;

-- For what is done to one channel beside commits: its owner may, and the active host to what nobody owns.
CREATE OR REPLACE FUNCTION check_channel(who text, its_term bigint, name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  owner owners;
BEGIN
  PERFORM check_alive(who, its_term);
  SELECT * INTO owner FROM owners o WHERE o.channel = name;
  IF NOT FOUND THEN
    PERFORM check_owner(who, its_term);
  ELSIF owner.host <> who OR owner.term <> its_term THEN
    RAISE EXCEPTION 'another host owns a channel' USING ERRCODE = '${REFUSED.notOwner}', DETAIL = json_build_array(name)::text;
  END IF;
END $$;

-- Which channels of a commit are not the host's own.
CREATE OR REPLACE FUNCTION foreign_channels(who text, its_term bigint, written text[]) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(w.channel ORDER BY w.channel) FROM (SELECT DISTINCT unnest(written) AS channel) w
  WHERE w.channel <> '' AND NOT EXISTS (
    SELECT 1 FROM owners o WHERE o.channel = w.channel AND o.host = who AND o.term = its_term)
$$;

CREATE OR REPLACE FUNCTION last_record_change() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT greatest((SELECT max(changed) FROM records), (SELECT max(changed) FROM removed_records), 0)
$$;

CREATE OR REPLACE FUNCTION put_archive(at bigint, name text, text_of_head text, start bigint, ids text[], jsons text[])
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  there bigint;
BEGIN
  SELECT coalesce(max(idx) + 1, 0) INTO there FROM turns WHERE channel = name;
  IF start < 0 OR start > there THEN
    RAISE EXCEPTION 'a hole between turns' USING ERRCODE = '${REFUSED.turnHole}', DETAIL = there::text;
  END IF;
  IF start < there THEN
    DELETE FROM turns WHERE channel = name AND idx >= start;
  END IF;
  INSERT INTO turns SELECT name, start + t.at - 1, t.id, t.json FROM unnest(ids, jsons) WITH ORDINALITY AS t (id, json, at);
  INSERT INTO archives VALUES (name, at, text_of_head)
    ON CONFLICT (channel) DO UPDATE SET seq = excluded.seq, head = excluded.head;
END $$;

-- Of level 1. Hosts of that level call the one below, which takes what they say in the same way.
DROP FUNCTION IF EXISTS append(text, bigint, bigint, text[], bigint[], text[], text[], bigint[], bigint[], text[], text[], bigint[],
  bigint[], text[], text[], text[], text[], bigint[], text[]);

-- Without changes of owners (null) the host is the active one, which owns everything; with them, also with none, it owns what
-- it has claimed.
CREATE OR REPLACE FUNCTION append(
  who text, its_term bigint, nth bigint,
  e_channel text[], e_time bigint[], e_action text[], e_client text[], e_epoch bigint[], e_number bigint[],
  a_channel text[], a_head text[], a_start bigint[], t_archive bigint[], t_id text[], t_json text[],
  r_key text[], r_before text[], r_entry bigint[], r_after text[],
  o_channel text[] DEFAULT NULL, o_host text[] DEFAULT NULL, o_term bigint[] DEFAULT NULL
) RETURNS TABLE (first bigint, last bigint) LANGUAGE plpgsql AS $$
DECLARE
  before bigint;
  stored commits;
  which bigint;
  others text[];
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  IF o_channel IS NULL THEN
    PERFORM check_owner(who, its_term);
  ELSE
    PERFORM check_alive(who, its_term);
  END IF;
  SELECT * INTO stored FROM commits c WHERE c.host = who AND c.term = its_term AND c.n = nth;
  IF FOUND AND stored.first IS NULL THEN
    RAISE EXCEPTION 'commit % was given up', nth USING ERRCODE = '${REFUSED.givenUp}';
  ELSIF FOUND THEN
    RETURN QUERY SELECT stored.first, stored.last;
    RETURN;
  END IF;
  IF nth > 1 AND NOT EXISTS (SELECT 1 FROM commits c WHERE c.host = who AND c.term = its_term AND c.n = nth - 1) THEN
    RAISE EXCEPTION 'commit % is not there', nth - 1 USING ERRCODE = '${REFUSED.older}';
  END IF;
  IF o_channel IS NULL THEN
    IF EXISTS (SELECT 1 FROM owners o WHERE (o.host <> who OR o.term <> its_term) AND o.channel = ANY (e_channel || a_channel)) THEN
      RAISE EXCEPTION 'another host owns a channel of host % (term %)', who, its_term USING ERRCODE = '${REFUSED.fenced}';
    END IF;
  ELSE
    INSERT INTO owners SELECT o.channel, who, its_term FROM unnest(o_channel, o_host, o_term) AS o (channel, host, term)
      WHERE o.host = who AND o.term = its_term ON CONFLICT DO NOTHING;
    others := foreign_channels(who, its_term, e_channel || a_channel || o_channel);
    IF others IS NOT NULL THEN
      RAISE EXCEPTION 'another host owns a channel' USING ERRCODE = '${REFUSED.notOwner}', DETAIL = to_json(others)::text;
    END IF;
  END IF;
  before := last_number();
  IF cardinality(e_channel) > 0 THEN
    INSERT INTO entries
      SELECT before + e.at, e.channel, e.time, e.action, e.client, e.epoch, e.number
      FROM unnest(e_channel, e_time, e_action, e_client, e_epoch, e_number)
        WITH ORDINALITY AS e (channel, time, action, client, epoch, number, at);
    INSERT INTO client_numbers
      SELECT e.client, e.epoch, e.number, before + e.at
      FROM unnest(e_client, e_epoch, e_number) WITH ORDINALITY AS e (client, epoch, number, at)
      WHERE e.client IS NOT NULL;
  END IF;
  first := before + 1;
  last := before + cardinality(e_channel);
  FOR which IN 1 .. cardinality(a_channel) LOOP
    PERFORM put_archive(last, a_channel[which], a_head[which], a_start[which],
      ARRAY(SELECT t.id FROM unnest(t_archive, t_id) WITH ORDINALITY AS t (archive, id, at) WHERE t.archive = which ORDER BY t.at),
      ARRAY(SELECT t.json FROM unnest(t_archive, t_json) WITH ORDINALITY AS t (archive, json, at) WHERE t.archive = which ORDER BY t.at));
  END LOOP;
  IF cardinality(r_key) > 0 THEN
    WITH gone AS (
      DELETE FROM records d WHERE d.key IN (SELECT r.key FROM unnest(r_key, r_before) AS r (key, before) WHERE r.before IS NULL)
      RETURNING d.key)
    INSERT INTO removed_records SELECT g.key FROM gone g ON CONFLICT (key) DO UPDATE SET changed = excluded.changed;
    INSERT INTO records
      SELECT r.key, CASE WHEN r.entry IS NULL THEN r.before ELSE r.before || (append.first + r.entry) || r.after END
      FROM unnest(r_key, r_before, r_entry, r_after) AS r (key, before, entry, after) WHERE r.before IS NOT NULL
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed = excluded.changed;
  END IF;
  IF cardinality(o_channel) > 0 THEN
    DELETE FROM owners w USING unnest(o_channel, o_host, o_term) AS o (channel, host, term)
      WHERE w.channel = o.channel AND (o.host IS NULL OR o.host <> who OR o.term <> its_term);
    INSERT INTO owners SELECT o.channel, h.id, h.term FROM unnest(o_channel, o_host, o_term) AS o (channel, host, term)
      JOIN hosts h ON h.id = o.host AND h.term = o.term AND h.alive ON CONFLICT DO NOTHING;
  END IF;
  INSERT INTO commits VALUES (who, its_term, nth, append.first, append.last);
  IF nth % ${COMMITS_KEPT} = 0 THEN
    DELETE FROM commits c WHERE c.host = who AND c.term = its_term AND c.n < nth - ${COMMITS_KEPT};
    DELETE FROM removed_records WHERE changed < last_record_change() - ${RECORD_CHANGES_KEPT};
  END IF;
  RETURN NEXT;
END $$;

-- The host goes on without a commit whose answer never came. True when it was stored all the same.
CREATE OR REPLACE FUNCTION give_up(who text, its_term bigint, nth bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  stored commits;
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  PERFORM check_alive(who, its_term);
  SELECT * INTO stored FROM commits c WHERE c.host = who AND c.term = its_term AND c.n = nth;
  IF FOUND THEN
    RETURN stored.first IS NOT NULL;
  END IF;
  INSERT INTO commits VALUES (who, its_term, nth, NULL, NULL);
  RETURN false;
END $$;

CREATE OR REPLACE FUNCTION begin_client(
  who text, its_term bigint, epoch_key text, answers text, known_key text, above bigint, before text, after text
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  fresh bigint;
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  PERFORM check_alive(who, its_term);
  SELECT greatest(coalesce((SELECT value::bigint FROM records WHERE key = epoch_key), 0), above) + 1 INTO fresh;
  WITH gone AS (DELETE FROM records WHERE key >= answers AND key < answers || U&'\\+10FFFF' RETURNING key)
    INSERT INTO removed_records SELECT g.key FROM gone g ON CONFLICT (key) DO UPDATE SET changed = excluded.changed;
  INSERT INTO records VALUES (epoch_key, fresh::text), (known_key, before || fresh || after)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, changed = excluded.changed;
  RETURN fresh;
END $$;

CREATE OR REPLACE FUNCTION copy_turns(
  who text, its_term bigint, from_channel text, to_channel text, start bigint, behind bigint, max_bytes bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  there bigint;
  copied bigint;
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  PERFORM check_channel(who, its_term, to_channel);
  SELECT coalesce(max(idx) + 1, 0) INTO there FROM turns WHERE channel = to_channel;
  IF there <> start THEN
    RAISE EXCEPTION 'turns are there' USING ERRCODE = '${REFUSED.turnsPresent}';
  END IF;
  INSERT INTO turns
    SELECT to_channel, t.idx, t.id, t.json FROM (
      SELECT u.*, sum(octet_length(u.json)) OVER (ORDER BY u.idx) - octet_length(u.json) AS bytes
      FROM turns u WHERE u.channel = from_channel AND u.idx >= start AND u.idx < behind
    ) t WHERE max_bytes IS NULL OR t.bytes < max_bytes;
  GET DIAGNOSTICS copied = ROW_COUNT;
  RETURN copied;
END $$;

CREATE OR REPLACE FUNCTION forget_channel(who text, its_term bigint, name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  PERFORM check_channel(who, its_term, name);
  DELETE FROM archives WHERE channel = name;
  DELETE FROM turns WHERE channel = name;
  UPDATE entries SET channel = '', action = '' WHERE channel = name;
END $$;

CREATE OR REPLACE FUNCTION forget_client(who text, its_term bigint, client text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  PERFORM check_owner(who, its_term);
  UPDATE entries SET client_id = NULL, epoch = NULL, client_seq = NULL
    WHERE seq IN (SELECT n.seq FROM client_numbers n WHERE n.client_id = client);
  DELETE FROM client_numbers WHERE client_id = client;
END $$;

-- Drops entries up to a number, and no more than so many at once. Answers the last that was dropped.
CREATE OR REPLACE FUNCTION drop_entries(who text, its_term bigint, up_to bigint, at_most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  needed bigint;
  oldest bigint;
  until bigint;
BEGIN
  PERFORM check_owner(who, its_term);
  SELECT min(e.seq) INTO needed FROM entries e LEFT JOIN archives a ON a.channel = e.channel
    WHERE e.seq <= up_to AND e.channel <> '' AND (a.seq IS NULL OR a.seq < e.seq);
  SELECT min(seq) INTO oldest FROM entries;
  until := least(coalesce(needed - 1, up_to), oldest + at_most - 1);
  IF oldest IS NULL OR until < oldest THEN
    RETURN NULL;
  END IF;
  DELETE FROM client_numbers c WHERE c.seq <= until AND EXISTS (
    SELECT 1 FROM client_numbers d WHERE d.client_id = c.client_id AND d.epoch > c.epoch AND d.seq <= until);
  DELETE FROM entries WHERE seq <= until;
  UPDATE numbers SET dropped = greatest(dropped, until);
  RETURN until;
END $$;

-- The engine may have lost the newest commits: numbers go on well above all that a client may have seen.
CREATE OR REPLACE FUNCTION skip_numbers(seen bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  UPDATE numbers SET skipped = greatest(last_number(), seen) + ${SKIPPED_NUMBERS};
END $$;

CREATE OR REPLACE FUNCTION join_cluster(who text, its_link text, its_version text, its_level int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  fresh bigint;
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  INSERT INTO hosts (id, term, alive, beat, link, version, level) VALUES (who, 1, true, 0, its_link, its_version, its_level)
    ON CONFLICT (id) DO UPDATE SET term = hosts.term + 1, alive = true, beat = 0, link = excluded.link,
      version = excluded.version, level = excluded.level, wanted = NULL, facts = '{}', joined_at = now()
    RETURNING term INTO fresh;
  DELETE FROM owners WHERE host = who;
  DELETE FROM commits WHERE host = who;
  RETURN fresh;
END $$;

-- Makes the host the active one, if there is none. True when it is.
CREATE OR REPLACE FUNCTION claim(who text, its_term bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  IF NOT EXISTS (SELECT 1 FROM hosts WHERE id = who AND term = its_term AND alive) THEN
    RAISE EXCEPTION 'host % (term %) was declared dead', who, its_term USING ERRCODE = '${REFUSED.fenced}';
  END IF;
  INSERT INTO owners VALUES ('${ROOT_OWNER}', who, its_term) ON CONFLICT DO NOTHING;
  RETURN EXISTS (SELECT 1 FROM owners WHERE channel = '${ROOT_OWNER}' AND host = who AND term = its_term);
END $$;

-- Makes channels the host's own, all of them or none, and answers who owns them. What dead terms owned is free.
CREATE OR REPLACE FUNCTION claim_channels(who text, its_term bigint, wanted text[])
RETURNS TABLE (channel text, host text, term bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  PERFORM check_alive(who, its_term);
  DELETE FROM owners o WHERE o.channel = ANY (wanted)
    AND NOT EXISTS (SELECT 1 FROM hosts h WHERE h.id = o.host AND h.term = o.term AND h.alive);
  IF NOT EXISTS (SELECT 1 FROM owners o WHERE o.channel = ANY (wanted) AND (o.host <> who OR o.term <> its_term)) THEN
    INSERT INTO owners SELECT DISTINCT w, who, its_term FROM unnest(wanted) AS w ON CONFLICT DO NOTHING;
  END IF;
  RETURN QUERY SELECT o.channel, o.host, o.term FROM owners o WHERE o.channel = ANY (wanted);
END $$;

CREATE OR REPLACE FUNCTION release_channels(who text, its_term bigint, given text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  DELETE FROM owners o WHERE o.channel = ANY (given) AND o.host = who AND o.term = its_term;
END $$;

-- Declares a host dead, if its beat is still the one that was seen. True when it is dead.
CREATE OR REPLACE FUNCTION bury(whom text, its_term bigint, its_beat bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  UPDATE hosts SET alive = false WHERE id = whom AND term = its_term AND beat = its_beat AND alive;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM owners WHERE host = whom AND term = its_term;
  RETURN true;
END $$;

-- A host leaves in good order.
CREATE OR REPLACE FUNCTION leave_cluster(who text, its_term bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM head FOR UPDATE;
  UPDATE hosts SET alive = false WHERE id = who AND term = its_term;
  DELETE FROM owners WHERE host = who AND term = its_term;
END $$;

-- Follows the timeline of the engine: another one means that the newest commits may be lost. True when it was another one.
CREATE OR REPLACE FUNCTION follow_timeline() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  now_on bigint := timeline();
BEGIN
  IF now_on IS NULL OR EXISTS (SELECT 1 FROM meta WHERE timeline IS NOT DISTINCT FROM now_on) THEN
    RETURN false;
  END IF;
  PERFORM 1 FROM head FOR UPDATE;
  IF EXISTS (SELECT 1 FROM meta WHERE timeline IS NOT DISTINCT FROM now_on) THEN
    RETURN false;
  END IF;
  IF EXISTS (SELECT 1 FROM meta WHERE timeline IS NOT NULL) THEN
    UPDATE numbers SET skipped = last_number() + ${SKIPPED_NUMBERS};
    UPDATE meta SET timeline = now_on;
    RETURN true;
  END IF;
  UPDATE meta SET timeline = now_on;
  RETURN false;
END $$;
`;

/** The statements that create a schema. */
export function createStatements(schema: string): string {
  return `CREATE SCHEMA IF NOT EXISTS ${schema}; SET LOCAL search_path TO ${schema}; ${TABLES} ${ADDED_TABLES.join('')} ${FUNCTIONS}`;
}

/**
 * The statements that upgrade a schema of an earlier level: functions are replaced, and missing parts of tables are
 * added.
 */
export function upgradeStatements(schema: string, from: number): string {
  const added = ADDED_TABLES.slice(from - 1).join('\n');
  return `SET LOCAL search_path TO ${schema}; ${added} ${FUNCTIONS}`;
}

/** What each level added to the tables of the previous one, beginning with the step from 1 to 2. */
const ADDED_TABLES: readonly string[] = [RECORD_CHANGES];
