/** An agent for tests: our small one, as a process, with a plan to follow and ways to misbehave. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AcpAgentOptions, acpAgent } from '../../src/acp-agent.js';
import type { AgentUnderTest, PlannedAnswer } from '../../src/agent-acceptance/suite.js';

const AGENT = fileURLToPath(new URL('./acp-agent.mjs', import.meta.url));

/** What this agent can do beside what every plan can tell. */
export interface AcpAnswer extends PlannedAnswer {
  /** Sent as they are. */
  readonly updates?: readonly object[];
  /** Requests to the host; the answers are noted. */
  readonly requests?: readonly { readonly method: string; readonly params: object }[];
  /** Does not wait for the answers to its requests. */
  readonly isHasty?: boolean;
  /** Requests that come when the turn is over. */
  readonly lateRequests?: readonly { readonly method: string; readonly params: object }[];
  /** Sent after the requests. */
  readonly laterUpdates?: readonly object[];
  /** More for the answer that ends the turn. */
  readonly end?: object;
  readonly dies?: boolean;
  /** Says this for ever, a thousand times at once. */
  readonly floods?: string;
  /** Calls this tool of the host for ever. */
  readonly keepsCalling?: string;
}

export type Way =
  | 'dies at start'
  | 'dies when asked'
  | 'prints garbage'
  | 'has a child'
  | 'is deaf'
  | 'is mute'
  | 'is slow'
  | 'opens no session'
  | 'speaks another version'
  | 'cannot load'
  | 'has forgotten'
  | 'takes no tools'
  | 'takes folders'
  | 'offers models'
  | 'wants a login';

export interface AcpSubject extends Required<AgentUnderTest> {
  /** What the agent wrote down: the answers to its requests, the tools it saw. */
  notes(): Promise<unknown[]>;
  /** Lets the next process have other ways. */
  change(plan: readonly AcpAnswer[], ways?: readonly Way[]): Promise<void>;
}

export async function acpSubject(
  plan: readonly AcpAnswer[],
  ways: readonly Way[] = [],
  options: Partial<AcpAgentOptions> = {},
): Promise<AcpSubject> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'acp-agent-'));
  const lines = async (name: string) => {
    const text = await readFile(path.join(folder, name), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  };
  const change: AcpSubject['change'] = async (plan, ways = []) =>
    writeFile(path.join(folder, 'plan.json'), JSON.stringify({ plan, ways }));
  await change(plan, ways);
  const command = { command: process.execPath, args: [AGENT, folder] };
  return {
    agent: acpAgent({ provider: 'orchard', displayName: 'Orchard', ...command, ...options }),
    receivedMessages: () => readFile(path.join(folder, 'heard.txt'), 'utf8'),
    pids: async () => (await lines('pids')).map(Number),
    notes: async () => (await lines('notes.jsonl')).map((line) => JSON.parse(line)),
    change,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
