/**
 * A dialect as real clients speak it: the outermost layer of every version that has chats. It knows how clients deviate
 * from the protocol (`quirks.ts`), and how each connection spells the names of sessions (`names.ts`). A connection that
 * spells like the host gets the dialect's frames unchanged; connections with the same spelling share theirs, too. Wire
 * channels have the host's names here: only names inside frames are changed.
 */

import type { CallContext, Dialect, ModelRequest, ModelView } from '../dialect.js';
import type { ActionFrame, Call, DialectConnection, Frame, InboundNotification, Params } from '../dialect-0.3.js';
import { isJson, type Json } from '../upstream/shapes.js';
import { isPlain, NameReader, NameWriter, type Spelling, spellingKey, spellingOf, withSpelling } from './names.js';
import { CLIENT_QUIRKS } from './quirks.js';
import { addressed, envelopeWithNames, type Rename, withNames } from './renaming.js';

/** How many spellings each dialect remembers; beyond that, connections share fewer frames. */
export const SPELLINGS_MAX = 1_000;
/** The total size of those spellings' keys: one client may use other names for many sessions. */
export const SPELLINGS_MAX_CHARACTERS = 4 * 2 ** 20;

/** The dialect with the quirks of its clients. */
export function withClientQuirks(dialect: Dialect): Dialect {
  const spelled = new SpelledDialects();
  const plain: Dialect = {
    ...dialect,
    forConnection: (connection) => {
      const spelling = spellingOf(connection);
      if (isPlain(spelling)) return plain;
      const key = spellingKey(spelling);
      const known = spelled.get(key);
      if (known) return known;
      const made = spelledDialect(plain, dialect, spelling);
      spelled.add(key, made);
      return made;
    },
    request: (call, context) => request(dialect, call, context),
    notification: (call, context) => notification(dialect, call, context),
  };
  return plain;
}

/** The dialects for recently used spellings, within the limits. */
export class SpelledDialects {
  readonly #byKey = new Map<string, Dialect>();
  #characters = 0;

  get(key: string): Dialect | undefined {
    return this.#byKey.get(key);
  }

  add(key: string, dialect: Dialect): void {
    this.#byKey.set(key, dialect);
    this.#characters += key.length;
    for (const oldest of this.#byKey.keys()) {
      if (this.#byKey.size <= SPELLINGS_MAX && this.#characters <= SPELLINGS_MAX_CHARACTERS) return;
      this.#byKey.delete(oldest);
      this.#characters -= oldest.length;
    }
  }
}

/** The same wire for connections with one spelling. */
function spelledDialect(plain: Dialect, dialect: Dialect, spelling: Spelling): Dialect {
  const envelope = (frame: Frame, view: ModelView): Frame => ({
    ...frame,
    params: envelopeWithNames(frame.params as Json, renameFor(spelling, view)),
  });
  return {
    ...plain,
    // Stored text contains the host's names.
    traits: { ...plain.traits, sendsStoredJson: false },
    encodeError: (error, view) => {
      const shown = dialect.encodeError(error, view);
      return { ...shown, message: new NameWriter(spelling, view).writeText(shown.message) };
    },
    encodeSnapshot: (parts, connection, view) => {
      const shown = dialect.encodeSnapshot(parts, connection, view);
      return shown && (withNames('Snapshot', shown, renameFor(spelling, view)) as object);
    },
    encodeSteps: (memory, group, view) => {
      const encoded = dialect.encodeSteps(memory, group, view);
      return { ...encoded, frames: encoded.frames.map((frame) => envelope(frame, view) as ActionFrame) };
    },
    encodeEcho: (original, stamp, view) => envelope(dialect.encodeEcho(original, stamp, view), view),
    encodeRejection: (original, stamp, view) => {
      const rejectionReason = new NameWriter(spelling, view).writeText(stamp.rejectionReason);
      return envelope(dialect.encodeRejection(original, { ...stamp, rejectionReason }, view), view);
    },
    encodeNotification: (call, view) => {
      const frame = dialect.encodeNotification(call, view);
      return frame && { ...frame, params: paramsWithNames(frame.method, frame.params as Json, spelling, view) };
    },
    encodeRequest: ({ method, params }, view) => ({
      method,
      params: paramsWithNames(method, params, spelling, view),
    }),
  };
}

function renameFor(spelling: Spelling, view: ModelView): Rename {
  const names = new NameWriter(spelling, view);
  return (uri) => names.write(uri);
}

function paramsWithNames(method: string, params: Json, spelling: Spelling, view: ModelView): Json {
  const rename = renameFor(spelling, view);
  return addressed(withNames(method, params, rename) as Json, rename);
}

// Calls from clients

function request(dialect: Dialect, given: Call, context: CallContext): ModelRequest {
  const begun = given.method === 'initialize' ? greeted(given.params, context.connection) : context.connection;
  const { params, connection } = named(given, begun, context.view);
  const call = CLIENT_QUIRKS.reduce<Call>((meant, quirks) => quirks.meant?.(meant, context.view) ?? meant, {
    method: given.method,
    params,
  });
  const inner = dialect.request(call, { ...context, connection });
  const spelling = spellingOf(inner.connection);
  if (inner.kind === 'fail' || isPlain(spelling)) return inner;
  return {
    ...inner,
    encodeResult: (result, view) => spelledResult(given.method, inner.encodeResult(result, view), { spelling, view }),
  };
}

function greeted(params: Params, connection: DialectConnection): DialectConnection {
  for (const quirks of CLIENT_QUIRKS) {
    const spelling = quirks.spelling?.(params);
    if (spelling) return withSpelling(connection, spelling);
  }
  return connection;
}

interface Spelled {
  readonly spelling: Spelling;
  readonly view: ModelView;
}

function spelledResult(method: string, result: unknown, { spelling, view }: Spelled): unknown {
  const rename = renameFor(spelling, view);
  const shown = withNames(`${method}:result`, result, rename);
  // Windows of turns are keyed by the names of their channels.
  if (!isJson(shown) || !isJson(shown.turns) || (method !== 'initialize' && method !== 'reconnect')) return shown;
  const turns = Object.entries(shown.turns).map(([channel, window]) => [rename(channel), window]);
  return { ...shown, turns: Object.fromEntries(turns) };
}

/** The params with the host's names, and the connection with what was learned from the client's names. */
function named({ method, params }: Call, connection: DialectConnection, view: ModelView) {
  const names = new NameReader(spellingOf(connection), view);
  const mentioned = withNames(method, params, (name) => names.mention(name)) as Params;
  const { channel, provider } = mentioned;
  const isNew = method === 'createSession' && typeof channel === 'string';
  const read = isNew
    ? { ...mentioned, ...withoutUndefined(names.addressNew(channel, provider)) }
    : addressed(mentioned, (name) => names.address(name));
  return { params: read as Params, connection: withSpelling(connection, names.spelling) };
}

function withoutUndefined({ channel, provider }: { readonly channel: string; readonly provider: unknown }): Params {
  return provider === undefined ? { channel } : { channel, provider };
}

function notification(dialect: Dialect, { method, params }: Call, context: CallContext): InboundNotification {
  const { connection: before, view } = context;
  const names = new NameReader(spellingOf(before), view);
  const rename: Rename = (name) => names.mention(name);
  const mentioned = method === 'dispatchAction' ? envelopeWithNames(params, rename) : params;
  const { channel } = params;
  const read = typeof channel === 'string' ? { ...mentioned, channel: names.address(channel) } : mentioned;
  const connection = withSpelling(before, names.spelling);
  const inner = dialect.notification({ method, params: read }, { ...context, connection });
  if (inner.kind !== 'dispatch') return inner;
  const reason = CLIENT_QUIRKS.map((quirks) => quirks.refusal?.(inner.action as Params)).find(Boolean);
  if (reason === undefined) return inner;
  const { clientSeq, original } = inner;
  return { kind: 'reject', connection: inner.connection, channel: inner.channel, clientSeq, original, reason };
}
