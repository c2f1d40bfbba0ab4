/** An agent behind a command that runs on another host keeps every promise that it keeps on this one. */
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { StartProgram } from '@atrium/core/util/programs.js';
import type { Turn } from '@atrium/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentAcceptance } from '../../src/agent-acceptance/suite.js';
import { TestSession } from '../../src/agent-acceptance/test-session.js';
import { acpSubject } from '../support/acp-subject.js';
import { workingHosts } from '../support/working-pair.js';

function startedBy(agent: AgentBackend, startProgram: StartProgram): AgentBackend {
  return new Proxy(agent, {
    get: (target, name) =>
      name === 'open'
        ? (context: Parameters<AgentBackend['open']>[0]) => target.open({ ...context, startProgram })
        : Reflect.get(target, name),
  });
}

agentAcceptance(
  { describe, it, expect },
  '[CLU-044] an agent behind ACP on another host',
  async (plan) => {
    const [subject, { programs, counts }] = [await acpSubject(plan), await workingHosts(['b'])];
    const startProgram: StartProgram = async (request) => {
      const program = await programs.startFor('s')(request);
      expect(counts()[0]).toBeGreaterThan(0);
      return program;
    };
    return { ...subject, agent: startedBy(subject.agent, startProgram) };
  },
  { timeScale: 4 },
);

it('[CLU-046] an agent whose host is lost before it is ready is started at another one', async () => {
  const subject = await acpSubject([{ text: ['Here I am.'] }], ['is slow']);
  const { programs, others, see } = await workingHosts(['b', 'c']);
  const c = others.find(({ worker }) => worker.host === 'c');
  let starts = 0;
  const startProgram: StartProgram = async (request) => {
    const program = await programs.startFor('s')(request);
    starts += 1;
    // It takes longer to say hello.
    if (starts === 1) setTimeout(() => see(c ? [c.worker] : []), 100);
    return program;
  };
  const agent = startedBy(subject.agent, startProgram);
  const session = await TestSession.open({ ...subject, agent }, { extras: {}, waitMaxMs: 15_000 });
  onTestFinished(() => session.close());
  expect(textIn(await session.turn('Where are you?'))).toBe('Here I am.');
  expect(starts).toBe(2);
}, 60_000);

function textIn({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? part.content : [])).join('');
}
