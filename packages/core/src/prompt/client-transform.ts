/**
 * Stage 4: active clients may rewrite sections, one client after another, with one request per prompt. If anything goes
 * wrong, the text stays as it was. Prompt text never enters state.
 */

import type { SessionActiveClient } from '@atrium/protocol/ahp-1';
import type { Presence } from '../contracts/ports.js';
import type { TelemetryReports } from '../contracts/telemetry.js';
import type { Sections } from '../util/prompt-sections.js';
import { type ChangeLog, logChange } from './contributions.js';
import { TRANSFORM_MAX_BYTES, TRANSFORM_MAX_SECTIONS, TRANSFORM_TIMEOUT_MS } from './limits.js';

export interface ClientRequest extends ChangeLog {
  /** The clients when the rendering begins. A client that joins later is asked about the next prompt. */
  readonly activeClients: readonly SessionActiveClient[];
  readonly clients: Pick<Presence, 'canAsk' | 'ask'>;
  readonly telemetry?: TelemetryReports;
}

/** Lets clients rewrite sections. The caller has removed those that clients must not change. */
export async function withClient(sections: Sections, request: ClientRequest): Promise<Sections> {
  let current = sections;
  for (const activeClient of request.activeClients) current = await rewrittenBy(activeClient, current, request);
  return current;
}

async function rewrittenBy(client: SessionActiveClient, sections: Sections, request: ClientRequest): Promise<Sections> {
  const { clientId } = client;
  const wanted = candidates(sections, client);
  if (wanted.size === 0 || !request.clients.canAsk(clientId, 'systemMessageTransform')) return sections;
  try {
    const rewritten = await ask(clientId, request, wanted);
    return new Map([...sections].map(([id, text]) => [id, rewritten.get(id) ?? text]));
  } catch (error) {
    const { session, logger } = request;
    const message = error instanceof Error ? error.message : String(error);
    logger.log('debug', 'prompt transform failed; the text stays as it was', { session, error: message });
    return sections;
  }
}

/** The sections of this prompt that the client offers to rewrite. */
function candidates(sections: Sections, { systemMessageTransform }: SessionActiveClient): Sections {
  const offered = new Set(systemMessageTransform?.sections ?? []);
  if (offered.size === 0) return new Map();
  return new Map([...sections].filter(([id]) => offered.has(id)).slice(0, TRANSFORM_MAX_SECTIONS));
}

async function ask(clientId: string, request: ClientRequest, wanted: Sections): Promise<Sections> {
  const { session, clients, telemetry } = request;
  const params = {
    channel: session,
    sections: Object.fromEntries([...wanted].map(([id, content]) => [id, { content }])),
  };
  const send = () => clients.ask(clientId, 'systemMessageTransform', params, TRANSFORM_TIMEOUT_MS);
  const attributes = { 'ahp.session.id': session };
  const { sections } = await (telemetry?.around('atrium.prompt.transform', attributes, send) ?? send());
  const answered = Object.entries(sections).filter(([id]) => wanted.has(id));
  const rewritten = new Map(answered.map(([id, { content }]) => [id, content]));
  const size = [...rewritten.values()].reduce((total, content) => total + Buffer.byteLength(content), 0);
  if (size > TRANSFORM_MAX_BYTES) throw new Error(`the answer has ${size} bytes; ${TRANSFORM_MAX_BYTES} are allowed`);
  for (const [section, before] of wanted)
    logChange({ stage: 'client', by: clientId, section, before, after: rewritten.get(section) ?? before }, request);
  return rewritten;
}
