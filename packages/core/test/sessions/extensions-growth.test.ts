/** Many tools: what clients are sent, and what a model's step costs, is counted in announcements, bytes and definitions. */
import type { SessionAction, SessionState, ToolDefinition } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { Extension } from '../../src/contracts/extension.js';
import type { HostTool } from '../../src/contracts/tool.js';
import {
  Extensions,
  TOOLS_AT_ONCE_MAX_CHARACTERS,
  TOOLS_QUIET_MS,
  TOOLS_TOLD_WITHIN_MS,
} from '../../src/sessions/extensions.js';
import type { CallContext } from '../../src/tool-calls/call-context.js';
import { ToolCalls } from '../../src/tool-calls/tool-calls.js';

function testClock() {
  let now = 0;
  const timers = new Set<{ at: number; run: () => void }>();
  return {
    after(ms: number, run: () => void) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    pass(ms: number) {
      now += ms;
      for (const timer of [...timers].filter(({ at }) => at <= now)) {
        if (timers.delete(timer)) timer.run();
      }
    },
    timers,
  };
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

function tool(name: string): HostTool {
  const definition: ToolDefinition = { name, description: 'Says what it was told, and a little more than that.' };
  return { definition } as HostTool;
}

function provider(index: number, tools = 100): Extension {
  const listed = Array.from({ length: tools }, (_, each) => tool(`p${index}_tool${each}`));
  return { id: `provider:${index}`, name: `p${index}`, tools: listed } as unknown as Extension;
}

function setUp() {
  const clock = testClock();
  const state = { serverTools: undefined as ToolDefinition[] | undefined };
  const told: number[] = [];
  let bytes = 0;
  const write = (action: SessionAction) => {
    if (action.type !== 'session/serverToolsChanged') return;
    state.serverTools = action.tools;
    told.push(action.tools.length);
    bytes += JSON.stringify(action).length;
  };
  const extensions = new Extensions({
    builtins: [tool('own')],
    standing: [],
    state: () => state as unknown as SessionState,
    write,
    clock,
  });
  return { extensions, clock, state, told, bytes: () => bytes };
}

describe('tools of many providers', () => {
  it('[GRO-003] are told once for all that come in a tick, the first at once', async () => {
    const { extensions, told } = setUp();
    for (let index = 0; index < 20; index++) extensions.set(provider(index, 2));
    expect(told).toEqual([3]);
    await tick();
    expect(told).toEqual([3, 41]);
    await tick();
    expect(told).toEqual([3, 41]);
  });

  it('[GRO-003] cost a subscriber about their own size when they come one after the other: 5,000 of them', async () => {
    const { extensions, clock, told, bytes, state } = setUp();
    for (let index = 0; index < 50; index++) {
      extensions.set(provider(index));
      await tick();
      clock.pass(20);
    }
    clock.pass(4 * TOOLS_QUIET_MS);
    await tick();
    expect(told.at(-1)).toBe(5_001);
    expect(told.length).toBeLessThan(6);
    expect(bytes()).toBeLessThan(1.2 * JSON.stringify(state.serverTools).length);
    expect(clock.timers.size).toBe(0);
  });

  it('[GRO-003] that never come to rest are told all the same', async () => {
    const { extensions, clock, told } = setUp();
    for (let passed = 0; passed < 3 * TOOLS_TOLD_WITHIN_MS; passed += TOOLS_QUIET_MS / 2) {
      extensions.set(provider(passed, 200));
      await tick();
      clock.pass(TOOLS_QUIET_MS / 2);
    }
    expect(told.length).toBeGreaterThan(1);
    expect(told.length).toBeLessThan(5);
  });

  it('[GRO-003] are told before a turn begins, and not after the session is gone', () => {
    const { extensions, clock, told } = setUp();
    extensions.set(provider(1, 1_000));
    expect(told).toEqual([]);
    extensions.tell();
    extensions.tell();
    expect(told).toEqual([1_001]);
    extensions.set(provider(2));
    extensions.close();
    clock.pass(10 * TOOLS_TOLD_WITHIN_MS);
    expect(told).toEqual([1_001]);
  });

  it('are told at once while the list is short, and not at all when it is as it was', async () => {
    const { extensions, told, state } = setUp();
    extensions.set(provider(1, 1));
    await tick();
    // As the log has it: other objects, the same words.
    state.serverTools = JSON.parse(JSON.stringify(state.serverTools));
    extensions.changed();
    extensions.remove('provider:2');
    await tick();
    extensions.remove('provider:1');
    expect(told).toEqual([2, 1]);
    expect(JSON.stringify(provider(1).tools).length).toBeLessThan(TOOLS_AT_ONCE_MAX_CHARACTERS);
  });

  it('[GRO-003] are the same list until one of them changes: a step of a model makes nothing anew', () => {
    const { extensions } = setUp();
    for (let index = 0; index < 50; index++) extensions.set(provider(index));
    const listed = extensions.tools();
    expect(extensions.tools()).toBe(listed);
    const reads = vi.fn();
    const clients = [{ clientId: 'c', tools: [{ name: 'look' }] }];
    const context = {
      chat: 'ahp-chat:/c',
      extensions,
      activeClients: () => clients.map((client) => ({ ...client })),
    } as unknown as CallContext;
    const calls = new ToolCalls(context);
    const [first] = calls.offered();
    expect(calls.offered()).toHaveLength(5_002);
    Object.defineProperty(extensions.tools()[7]?.definition, 'description', { get: reads });
    for (let step = 0; step < 100; step++) expect(calls.offered()[0]).toBe(first);
    expect(reads).not.toHaveBeenCalled();
    extensions.set(provider(3, 1));
    expect(calls.offered()).toHaveLength(4_903);
    clients[0] = { clientId: 'c', tools: [{ name: 'look' }, { name: 'own' }] };
    expect(calls.offered().at(-1)?.name).toBe('client_own');
  });
});
