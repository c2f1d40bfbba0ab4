/**
 * Stage 4: the active client may rewrite sections, in one request per prompt, all its sections at once. Whatever goes
 * wrong, the text stays as it was. Prompt text never enters state.
 */
import { ErrorCode, type SessionActiveClient } from '@atrium/protocol';
import { RequestError } from '../contracts/request-error.js';
import type { TelemetryReports } from '../contracts/telemetry.js';
import { TRANSFORM_MAX_BYTES, TRANSFORM_MAX_SECTIONS, TRANSFORM_TIMEOUT_MS } from '../limits.js';
import type { Connection } from '../wire/connection.js';
import { type Journal, noted } from './changes.js';
import type { Sections } from './sections.js';

export interface ClientRequest extends Journal {
  /** As it is when the render begins: if another client takes over meanwhile, it is asked the next time. */
  readonly activeClient: SessionActiveClient | undefined;
  readonly connectionOf: (clientId: string) => Connection | undefined;
  /** Where requests are told of, if anybody wants to hear of them. */
  readonly telemetry?: TelemetryReports;
}

/** Connections that answered that they do not know the method: they are not asked again. */
const unable = new WeakSet<Connection>();

/** The sections must be without those that clients may not touch. */
export async function withClient(sections: Sections, request: ClientRequest): Promise<Sections> {
  const { activeClient, connectionOf } = request;
  const wanted = candidates(sections, activeClient);
  const connection = activeClient && connectionOf(activeClient.clientId);
  const mayAsk = connection?.dialect.maySend('systemMessageTransform') && !unable.has(connection);
  if (wanted.size === 0 || !connection || !mayAsk) return sections;
  const rewritten = await ask(connection, request, wanted).catch((error) => failed(connection, request, error));
  return rewritten ? new Map([...sections].map(([id, text]) => [id, rewritten.get(id) ?? text])) : sections;
}

/** What the client offers to rewrite, as far as this prompt has it. */
function candidates(sections: Sections, activeClient: SessionActiveClient | undefined): Sections {
  const offered = new Set(activeClient?.systemMessageTransform?.sections ?? []);
  if (offered.size === 0) return new Map();
  return new Map([...sections].filter(([id]) => offered.has(id)).slice(0, TRANSFORM_MAX_SECTIONS));
}

async function ask(connection: Connection, request: ClientRequest, wanted: Sections): Promise<Sections> {
  const params = {
    channel: request.session,
    sections: Object.fromEntries([...wanted].map(([id, content]) => [id, { content }])),
  };
  const make = () => connection.request('systemMessageTransform', params, TRANSFORM_TIMEOUT_MS);
  const attributes = { 'ahp.session.id': request.session };
  const { sections } = await (request.telemetry?.around('atrium.prompt.transform', attributes, make) ?? make());
  const answered = Object.entries(sections).filter(([id]) => wanted.has(id));
  const rewritten = new Map(answered.map(([id, { content }]) => [id, content]));
  const size = [...rewritten.values()].reduce((total, content) => total + Buffer.byteLength(content), 0);
  if (size > TRANSFORM_MAX_BYTES) throw new Error(`the answer has ${size} bytes; ${TRANSFORM_MAX_BYTES} are allowed`);
  const by = request.activeClient?.clientId ?? '';
  for (const [section, before] of wanted)
    noted({ stage: 'client', by, section, before, after: rewritten.get(section) ?? before }, request);
  return rewritten;
}

function failed(connection: Connection, { logger, session }: ClientRequest, error: unknown): undefined {
  if (error instanceof RequestError && error.code === ErrorCode.MethodNotFound) unable.add(connection);
  const message = error instanceof Error ? error.message : String(error);
  logger.log('debug', 'prompt transform failed; the text stays as it was', { session, error: message });
}
