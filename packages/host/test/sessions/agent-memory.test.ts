import { AGENT_MEMORY_MAX_CHARACTERS, type AgentBackend, type AgentMemory } from '@atrium/core/contracts/agent.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestSession } from '../../src/agent-acceptance/test-session.js';

/** Hands out the memory of each session that is opened. */
function forgetfulAgent(): { agent: AgentBackend; memories: AgentMemory[] } {
  const memories: AgentMemory[] = [];
  const agent: AgentBackend = {
    info: { provider: 'forgetful', displayName: 'Forgetful', description: '', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: false },
    sections: {},
    open: async ({ memory }) => {
      memories.push(memory);
      return { runTurn: async (turn) => turn.text('Yes.'), close: async () => {} };
    },
  };
  return { agent, memories };
}

async function opened() {
  const { agent, memories } = forgetfulAgent();
  const fixture = await TestSession.open({ agent }, { extras: {}, waitMaxMs: 5_000 });
  onTestFinished(() => fixture.close());
  await fixture.turn('is it?');
  const memory = memories.at(-1);
  if (!memory) throw new Error('the agent was not opened');
  const again = async () => {
    await fixture.restart();
    await fixture.turn('is it?');
    return memories.at(-1)?.get();
  };
  return { fixture, memory, again };
}

describe('what an agent keeps with a session', () => {
  it('is there after a restart of the host, and no client sees it', async () => {
    const { fixture, memory, again } = await opened();
    expect(memory.get()).toBeUndefined();
    memory.set({ sessionId: 'private-7' });
    expect(memory.get()).toEqual({ sessionId: 'private-7' });
    expect(await again()).toEqual({ sessionId: 'private-7' });
    expect(JSON.stringify([fixture.actions, await fixture.state()])).not.toContain('private-7');
  });

  it('can be taken away', async () => {
    const { memory, again } = await opened();
    memory.set('a');
    memory.set(undefined);
    expect([memory.get(), await again()]).toEqual([undefined, undefined]);
  });

  it('is small', async () => {
    const { memory, again } = await opened();
    memory.set('kept');
    expect(() => memory.set('x'.repeat(AGENT_MEMORY_MAX_CHARACTERS))).toThrow('keep an id');
    expect(await again()).toBe('kept');
  });
});
