/** An agent behind a command that runs on another host keeps every promise that it keeps on this one. */
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { StartProgram } from '@atrium/core/util/programs.js';
import { describe, expect, it } from 'vitest';
import { agentAcceptance } from '../../src/agent-acceptance/suite.js';
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
