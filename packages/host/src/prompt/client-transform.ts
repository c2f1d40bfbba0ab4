/**
 * The active client may rewrite sections of the system prompt: one request per render, all its sections at once. Whatever
 * goes wrong, the text stays as it was. Prompt text never enters state or the log above debug level, where only hashes do.
 */
import { createHash } from 'node:crypto';
import { ErrorCode, type SessionActiveClient } from '@atrium/protocol';
import { TRANSFORM_MAX_BYTES, TRANSFORM_MAX_SECTIONS, TRANSFORM_TIMEOUT_MS } from '../limits.js';
import type { Logger } from '../logger.js';
import type { Connection } from '../wire/connection.js';
import { RequestError } from '../wire/request-error.js';

export type Sections = ReadonlyMap<string, string>;

export interface TransformRequest {
  readonly session: string;
  readonly sections: Sections;
  /** Sections that no client may touch, whatever it declares. */
  readonly restricted: ReadonlySet<string>;
  /** As it is when the render begins: if another client takes over meanwhile, it is asked the next time. */
  readonly activeClient: SessionActiveClient | undefined;
  readonly connectionOf: (clientId: string) => Connection | undefined;
  readonly logger: Logger;
}

/** Connections that answered that they do not know the method: they are not asked again. */
const unable = new WeakSet<Connection>();

export async function transformed(request: TransformRequest): Promise<Sections> {
  const { sections, activeClient, connectionOf } = request;
  const wanted = candidates(request);
  const connection = activeClient && connectionOf(activeClient.clientId);
  const mayAsk = connection?.dialect.maySend('systemMessageTransform') && !unable.has(connection);
  if (wanted.size === 0 || !connection || !mayAsk) return sections;
  const rewritten = await ask(connection, request, wanted).catch((error) => failed(connection, request, error));
  return rewritten ? new Map([...sections].map(([id, text]) => [id, rewritten.get(id) ?? text])) : sections;
}

/** What the client offers to rewrite, as far as this render has it and policy allows it. */
function candidates({ activeClient, sections, restricted }: TransformRequest): Sections {
  const offered = new Set(activeClient?.systemMessageTransform?.sections ?? []);
  const wanted = [...sections].filter(([id]) => offered.has(id) && !restricted.has(id));
  return new Map(wanted.slice(0, TRANSFORM_MAX_SECTIONS));
}

async function ask(connection: Connection, request: TransformRequest, wanted: Sections): Promise<Sections> {
  const params = {
    channel: request.session,
    sections: Object.fromEntries([...wanted].map(([id, content]) => [id, { content }])),
  };
  const { sections } = await connection.request('systemMessageTransform', params, TRANSFORM_TIMEOUT_MS);
  const answered = Object.entries(sections).filter(([id]) => wanted.has(id));
  const rewritten = new Map(answered.map(([id, { content }]) => [id, content]));
  const size = [...rewritten.values()].reduce((total, content) => total + Buffer.byteLength(content), 0);
  if (size > TRANSFORM_MAX_BYTES) throw new Error(`the answer has ${size} bytes; ${TRANSFORM_MAX_BYTES} are allowed`);
  audit(request, wanted, rewritten);
  return rewritten;
}

function failed(connection: Connection, { logger, session }: TransformRequest, error: unknown): undefined {
  if (error instanceof RequestError && error.code === ErrorCode.MethodNotFound) unable.add(connection);
  const message = error instanceof Error ? error.message : String(error);
  logger.log('debug', 'prompt transform failed; the text stays as it was', { session, error: message });
}

function audit({ logger, session, activeClient }: TransformRequest, before: Sections, after: Sections): void {
  for (const [section, text] of before) {
    logger.log('debug', 'prompt transform', {
      session,
      client: activeClient?.clientId,
      section,
      before: hash(text),
      after: hash(after.get(section) ?? text),
    });
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
