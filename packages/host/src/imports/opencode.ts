/**
 * Sessions of opencode: a SQLite database since version 1.2, and before that one JSON file for each session, message
 * and part. A database is read from a copy, because opening one that is in use creates files beside it, and nothing may
 * be written there.
 */
import { constants, existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Turn } from '@atrium/protocol/ahp-1';
import { type Database, loadDriver } from '../log-sqlite/driver.js';
import {
  dataOf,
  FOUND_MAX,
  type FoundSession,
  type Json,
  listOf,
  objectOf,
  type PastPicture,
  PastTurns,
  type Source,
  textOf,
  timeOf,
  titleOf,
} from './past-session.js';

const SESSION_ID = /^ses_[A-Za-z0-9]{1,100}$/;

/** The session, and the data of its messages with their parts, all in order. */
interface Stored {
  readonly session: Json;
  readonly messages: readonly { readonly data: Json; readonly parts: readonly Json[] }[];
  readonly unreadable: number;
}

/** Where sessions are stored. Sub-agents have their own sessions, which name their parent and become parts of it. */
interface Store {
  list(): Promise<readonly Json[]>;
  load(id: string): Promise<Stored | undefined>;
}

export function opencode(env: NodeJS.ProcessEnv = process.env): Source {
  const data = env.XDG_DATA_HOME || path.join(env.HOME || os.homedir(), '.local', 'share');
  const folder = path.join(data, 'opencode');
  const stores = () => {
    const database = path.join(folder, 'opencode.db');
    return [...(existsSync(database) ? [databaseStore(database)] : []), fileStore(path.join(folder, 'storage'))];
  };
  return {
    ...{ program: 'opencode', name: 'opencode', agents: ['opencode'] },
    async find() {
      const found = new Map<string, FoundSession>();
      for (const store of stores())
        for (const session of await store.list()) {
          const facts = factsOf(session);
          if (facts && !found.has(facts.id)) found.set(facts.id, facts);
        }
      return [...found.values()].sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1)).slice(0, FOUND_MAX);
    },
    async read(id) {
      if (!SESSION_ID.test(id)) return undefined;
      for (const store of stores()) {
        const stored = await store.load(id);
        const facts = stored && factsOf(stored.session);
        if (!stored || !facts) continue;
        const turns = turnsOf(id, stored.messages, await childrenOf(store, id, stored.messages));
        return { ...facts, turns, unreadable: stored.unreadable };
      }
      return undefined;
    },
  };
}

function factsOf(session: Json): (FoundSession & { createdAt: string }) | undefined {
  const { created, updated } = objectOf(session.time);
  const createdAt = timeOf(created);
  const isOwn = typeof session.id === 'string' && typeof session.parentID !== 'string';
  if (createdAt === undefined || !isOwn) return undefined;
  const title = titleOf(textOf(session.title), 'opencode');
  const folder = textOf(session.directory);
  return { id: String(session.id), title, folder, createdAt, modifiedAt: timeOf(updated) ?? createdAt };
}

/** Sub-agents of one session. */
const CHILDREN_MAX = 200;

/** The sessions of sub-agents by id; a call of the tool `task` names the one that it began. */
async function childrenOf(store: Store, id: string, messages: Stored['messages']): Promise<Children> {
  const named = messages.flatMap(({ parts }) => parts.flatMap((part) => childOf(part) ?? []));
  const children = new Map<string, Stored['messages']>();
  for (const child of named.slice(0, CHILDREN_MAX)) {
    const stored = SESSION_ID.test(child) ? await store.load(child) : undefined;
    if (stored?.session.parentID === id) children.set(child, stored.messages);
  }
  return children;
}

function childOf({ type, state }: Json): string | undefined {
  return type === 'tool' ? textOf(objectOf(objectOf(state).metadata).sessionId) : undefined;
}

type Children = ReadonlyMap<string, Stored['messages']>;

function turnsOf(id: string, messages: Stored['messages'], children: Children = new Map()): readonly Turn[] {
  const turns = new PastTurns(id);
  for (const { data, parts } of messages) {
    const at = timeOf(objectOf(data.time).created);
    if (data.role === 'user') {
      const texts = parts.filter(({ type, synthetic }) => type === 'text' && synthetic !== true);
      const pictures = picturesIn(parts);
      const files = parts.flatMap((part) =>
        part.type === 'file' && !isPictureFile(part) ? `[attached: ${textOf(part.filename) ?? 'a file'}]` : [],
      );
      const text = [...texts.flatMap((part) => textOf(part.text) ?? []), ...files].join('\n');
      if (text !== '' || pictures.length > 0) turns.ask(text, at, pictures);
      continue;
    }
    for (const part of parts) {
      readPart(turns, part, at);
      const child = childOf(part);
      const worked = child === undefined ? undefined : children.get(child);
      if (child !== undefined && worked) turns.subagent(turnsOf(child, worked), at);
    }
    const error = objectOf(data.error);
    if (error.name === 'MessageAbortedError') turns.cancel();
    else if (typeof error.name === 'string')
      turns.note(`The turn failed: ${textOf(objectOf(error.data).message) ?? error.name}`, at);
  }
  return turns.finished();
}

function readPart(turns: PastTurns, part: Json, begun: string | undefined): void {
  const at = timeOf(objectOf(part.time).end) ?? begun;
  if (part.type === 'text') turns.addText('markdown', textOf(part.text) ?? '', at);
  else if (part.type === 'reasoning') turns.addText('reasoning', textOf(part.text) ?? '', at);
  else if (part.type === 'tool') {
    const { status, input, output, error, title, time, attachments } = objectOf(part.state);
    const id = String(part.callID);
    const call = { name: textOf(part.tool) ?? 'tool', input: JSON.stringify(input ?? {}), title: textOf(title) };
    turns.call(id, call, timeOf(objectOf(time).start) ?? at);
    const isError = status === 'error';
    if (status === 'completed' || isError)
      turns.result(id, textOf(isError ? error : output) ?? '', {
        ...{ isError, at: timeOf(objectOf(time).end), pictures: picturesIn(listOf(attachments)) },
      });
  } else if (part.type === 'compaction') turns.note('The conversation was summarised here.', at);
}

function isPictureFile({ type, mime, url }: Json): boolean {
  return type === 'file' && textOf(mime)?.startsWith('image/') === true && dataOf(url) !== undefined;
}

function picturesIn(parts: readonly Json[]): PastPicture[] {
  return parts.filter(isPictureFile).map(({ filename, url }) => ({ name: textOf(filename), data: dataOf(url) }));
}

function fileStore(folder: string): Store {
  let unreadable = 0;
  const read = async (file: string): Promise<Json | undefined> => {
    try {
      return objectOf(JSON.parse(await readFile(file, 'utf8')));
    } catch {
      unreadable++;
      return undefined;
    }
  };
  /** Names are ids, and ids rise with time. */
  const filesIn = async (...parts: string[]) => {
    const place = path.join(folder, ...parts);
    const names = await readdir(place).catch(() => []);
    return names
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => path.join(place, name));
  };
  const projects = () => readdir(path.join(folder, 'session')).catch(() => []);
  return {
    async list() {
      const sessions: Json[] = [];
      for (const project of await projects())
        for (const file of (await filesIn('session', project)).slice(0, FOUND_MAX)) {
          const session = await read(file);
          if (session) sessions.push(session);
        }
      return sessions;
    },
    async load(id) {
      for (const project of await projects()) {
        const file = path.join(folder, 'session', project, `${id}.json`);
        const session = existsSync(file) ? await read(file) : undefined;
        if (!session) continue;
        unreadable = 0;
        const messages = [];
        for (const message of await filesIn('message', id)) {
          const data = await read(message);
          if (!data) continue;
          const parts: Json[] = [];
          for (const part of await filesIn('part', path.basename(message, '.json'))) {
            const value = await read(part);
            if (value) parts.push(value);
          }
          messages.push({ data, parts });
        }
        return { session, messages, unreadable };
      }
      return undefined;
    },
  };
}

interface Row {
  readonly id: string;
  readonly data: string;
}

function databaseStore(file: string): Store {
  return {
    list: () =>
      withCopy(file, (db) => {
        const rows = db.prepare<SessionRow>(
          `${selectSessions(db)} WHERE parent_id IS NULL ORDER BY time_updated DESC LIMIT ${FOUND_MAX}`,
        );
        return rows.all().map(sessionOf);
      }),
    load: (id) =>
      withCopy(file, (db) => {
        const row = db.prepare<SessionRow>(`${selectSessions(db)} WHERE id = ?`).get(id);
        if (!row) return undefined;
        let unreadable = 0;
        const read = (text: string): Json[] => {
          try {
            return [objectOf(JSON.parse(text))];
          } catch {
            unreadable++;
            return [];
          }
        };
        const columns = `${db.text('id')} AS id, ${db.text('data')} AS data`;
        const ofMessage = db.prepare<Row>(`SELECT ${columns} FROM part WHERE message_id = ? ORDER BY id`);
        const messages = db
          .prepare<Row>(`SELECT ${columns} FROM message WHERE session_id = ? ORDER BY time_created, id`)
          .all(id)
          .flatMap(({ id: message, data }) =>
            read(data).map((each) => ({
              data: each,
              parts: ofMessage.all(message).flatMap((part) => read(part.data)),
            })),
          );
        return { session: sessionOf(row), messages, unreadable };
      }),
  };
}

interface SessionRow {
  readonly id: string;
  readonly parent_id: string | null;
  readonly title: string;
  readonly directory: string;
  readonly time_created: number;
  readonly time_updated: number;
}

function selectSessions(db: Database): string {
  const texts = ['id', 'parent_id', 'title', 'directory'].map((column) => `${db.text(column)} AS ${column}`);
  return `SELECT ${texts.join(', ')}, time_created, time_updated FROM session`;
}

function sessionOf({ id, parent_id, title, directory, time_created, time_updated }: SessionRow): Json {
  const time = { created: time_created, updated: time_updated };
  return { id, ...(parent_id !== null && { parentID: parent_id }), title, directory, time };
}

interface Copy {
  /** The state of the original: sizes and times. */
  readonly state: string;
  readonly opened: Promise<{ readonly db: Database; readonly folder: string }>;
  /** Removes the copy after a while without readers. */
  readonly removal: NodeJS.Timeout;
}

/** By database, because many sessions are imported from one copy. */
const copies = new Map<string, Copy>();
const COPY_KEPT_MS = 5_000;

async function withCopy<T>(file: string, use: (db: Database) => T): Promise<T> {
  const state = await stateOf(file);
  let copy = copies.get(file);
  if (copy?.state !== state) {
    const opened = openCopy(file);
    const made: Copy = { state, opened, removal: setTimeout(() => removeCopy(file, made), COPY_KEPT_MS) };
    copy = made;
    copies.set(file, copy);
  }
  const { db } = await copy.opened;
  copy.removal.refresh();
  return use(db);
}

function removeCopy(file: string, copy: Copy): void {
  if (copies.get(file) === copy) copies.delete(file);
  copy.opened
    .then(({ db, folder }) => {
      db.close();
      return rm(folder, { recursive: true, force: true });
    })
    .catch(() => {});
}

async function stateOf(file: string): Promise<string> {
  const parts = [file, `${file}-wal`].map(async (part) => {
    const about = await stat(part).catch(() => undefined);
    return `${about?.size}/${about?.mtimeMs}`;
  });
  return (await Promise.all(parts)).join(' ');
}

async function openCopy(file: string): Promise<{ db: Database; folder: string }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'atrium-import-'));
  try {
    const copy = path.join(folder, 'copy.db');
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    await copyFile(`${file}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE).catch(() => {});
    const db = (await loadDriver()).open(copy);
    db.prepare('SELECT count(*) FROM session').get();
    return { db, folder };
  } catch (cause) {
    await rm(folder, { recursive: true, force: true });
    throw new Error(
      `the sessions of opencode cannot be read (${(cause as Error).message}): end opencode and try again`,
      {
        cause,
      },
    );
  }
}
