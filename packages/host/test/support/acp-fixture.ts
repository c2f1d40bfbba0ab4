/** A fixture with our small ACP agent, stopped when the test ends. */
import type { ResponsePart, ToolCallState } from '@atrium/protocol';
import { onTestFinished } from 'vitest';
import type { AcpAgentOptions } from '../../src/acp-agent.js';
import { TestSession, type TestSessionOptions } from '../../src/agent-acceptance/test-session.js';
import { type AcpAnswer, type AcpSubject, acpSubject, type Way } from './acp-subject.js';

/** A loaded machine starts processes slowly. */
const WAIT_MAX_MS = 15_000;
/** For the runner: a test waits for several things. */
export const ACP_TEST_MAX_MS = 4 * WAIT_MAX_MS;

export interface AcpFixtureOptions {
  readonly ways?: readonly Way[];
  readonly agent?: Partial<AcpAgentOptions>;
  readonly extras?: TestSessionOptions['extras'];
}

export async function acpFixture(
  plan: readonly AcpAnswer[],
  { ways = [], agent = {}, extras = {} }: AcpFixtureOptions = {},
): Promise<{ fixture: TestSession; subject: AcpSubject }> {
  const subject = await acpSubject(plan, ways, agent);
  const fixture = await TestSession.open(subject, { extras, waitMaxMs: WAIT_MAX_MS });
  onTestFinished(() => fixture.close());
  return { fixture, subject };
}

export function callsIn(parts: readonly ResponsePart[]): ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
}

export function notesIn(parts: readonly ResponsePart[]): string[] {
  return parts.flatMap((part) =>
    part.kind === 'systemNotification' ? [typeof part.content === 'string' ? part.content : part.content.markdown] : [],
  );
}
