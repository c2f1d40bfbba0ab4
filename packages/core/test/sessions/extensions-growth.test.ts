/** Many tools: what clients are sent, and what a model's step costs, is counted in announcements, bytes and definitions. */
import type { SessionAction, SessionState, ToolDefinition } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import type { Extension, TurnAdvice } from '../../src/contracts/extension.js';
import type { HostTool } from '../../src/contracts/tool.js';
import {
  adviceFor,
  Extensions,
  objectionTo,
  TOOLS_AT_ONCE_MAX_CHARACTERS,
  TOOLS_PUBLISHED_WITHIN_MS,
  TOOLS_QUIET_MS,
  untilReady,
} from '../../src/sessions/extensions.js';
import type { CallContext } from '../../src/tool-calls/call-context.js';
import {
  EXTENSION_TIMEOUT_MS,
  GATE_TEXT_MAX_CHARACTERS,
  TURN_CONTEXT_MAX_CHARACTERS,
} from '../../src/tool-calls/limits.js';
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

function tool(name: string, more = ''): HostTool {
  const description = `Says what it was told, and a little more than that. ${more}`;
  const definition: ToolDefinition = { name, description };
  return { definition } as HostTool;
}

function provider(index: number, tools = 100, more = ''): Extension {
  const listed = Array.from({ length: tools }, (_, each) => tool(`p${index}_tool${each}`, more));
  return { id: `provider:${index}`, name: `p${index}`, tools: listed } as unknown as Extension;
}

function setUp() {
  const clock = testClock();
  const state = { serverTools: undefined as ToolDefinition[] | undefined };
  const told: number[] = [];
  let bytes = 0;
  let isClosed = false;
  const close = () => {
    isClosed = true;
  };
  const write = (action: SessionAction) => {
    if (action.type !== 'session/serverToolsChanged') return;
    if (!isClosed) state.serverTools = action.tools;
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
  return { extensions, clock, state, told, bytes: () => bytes, close };
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

  it.each([
    ['a second', 20],
    ['five seconds, as on a busy machine', 100],
  ])(
    '[GRO-003] cost a subscriber about their own size when 5,000 come one after the other in %s',
    async (_, everyMs) => {
      const { extensions, clock, told, bytes, state } = setUp();
      for (let index = 0; index < 50; index++) {
        // Each tool as long as tools usually are.
        extensions.set(provider(index, 100, 'It takes a few words more. '.repeat(7)));
        await tick();
        clock.pass(everyMs);
      }
      clock.pass(8 * TOOLS_QUIET_MS);
      await tick();
      expect(told.at(-1)).toBe(5_001);
      expect(told.length).toBeLessThan(6);
      expect(bytes()).toBeLessThan(1.1 * JSON.stringify(state.serverTools).length);
      expect(bytes()).toBeGreaterThan(10 ** 6);
      expect(clock.timers.size).toBe(0);
    },
  );

  it('[GRO-003] that never come to rest are told all the same', async () => {
    const { extensions, clock, told } = setUp();
    for (let passed = 0; passed < 6 * TOOLS_PUBLISHED_WITHIN_MS; passed += TOOLS_QUIET_MS / 2) {
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
    extensions.publish();
    extensions.publish();
    expect(told).toEqual([1_001]);
    extensions.set(provider(2));
    extensions.close();
    clock.pass(10 * TOOLS_PUBLISHED_WITHIN_MS);
    expect(told).toEqual([1_001]);
  });

  it('[GRO-003] are not told again and again to a session that is gone and takes nothing more', async () => {
    const { extensions, told, close } = setUp();
    extensions.set(provider(1, 1));
    await tick();
    close();
    extensions.remove('provider:1');
    for (let ticks = 0; ticks < 5; ticks++) await tick();
    expect([told, extensions.tools().length]).toEqual([[2, 1], 1]);
    extensions.set(provider(2, 2));
    extensions.set(provider(3, 2));
    for (let ticks = 0; ticks < 5; ticks++) await tick();
    expect(told).toEqual([2, 1, 3, 5]);
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

describe('the extensions of a session', () => {
  const named = (id: string, more: Partial<Extension>) => ({ id, name: id, ...more }) as Extension;

  it('[UNI-013] offer their tools behind those of the host, of one name the first, and go with them', async () => {
    const { extensions, told } = setUp();
    const gates = [{ name: 'g' }] as never;
    extensions.set(named('a', { tools: [tool('own'), tool('x')], gates }));
    extensions.set(named('b', { tools: [tool('x'), tool('y')] }));
    expect(extensions.tools().map(({ definition }) => definition.name)).toEqual(['own', 'x', 'y']);
    expect([extensions.gates(), extensions.all().map(({ id }) => id)]).toEqual([gates, ['a', 'b']]);
    await tick();
    const before = told.length;
    extensions.remove('c');
    await tick();
    expect(told).toHaveLength(before);
    extensions.remove('a');
    expect([extensions.tools().map(({ definition }) => definition.name), extensions.gates()]).toEqual([
      ...[['own', 'x', 'y']],
      [],
    ]);
    extensions.remove('b');
    await tick();
    expect([told.at(-1), extensions.tools().length]).toEqual([1, 1]);
  });

  it('hide tools from the model of a chat', () => {
    const { extensions } = setUp();
    extensions.set(named('a', { hidden: (chat) => [(name: string) => chat === 'c' && name === 'x'] as never }));
    extensions.set(named('b', { hidden: () => (name: string) => name === 'y' }));
    extensions.set(named('d', {}));
    expect(['x', 'y', 'z'].map(extensions.hidden('c'))).toEqual([true, true, false]);
    expect(['x', 'y', 'z'].map(extensions.hidden('other'))).toEqual([false, true, false]);
  });

  it('[UNI-013] are told once for several changes that belong together', async () => {
    const { extensions, told } = setUp();
    const [outer, inner] = [extensions.hold(), extensions.hold()];
    extensions.set(named('a', { tools: [tool('x')] }));
    inner();
    await tick();
    expect(told).toEqual([]);
    outer();
    expect(told).toEqual([2]);
  });

  const request = (extensions: readonly Extension[], more: object = {}) => ({
    ...{ extensions, signal: new AbortController().signal, clock: { now: () => 0, after: () => () => {} } },
    ...{ logger: { log: vi.fn() }, ...more },
  });
  const [a, b] = [named('a', {}), named('b', {})];

  it('[UNI-005] say to a turn what fits, in their order; the first objection counts, and who fails says nothing', async () => {
    const long = 'x'.repeat(TURN_CONTEXT_MAX_CHARACTERS - 3);
    const answers: Record<string, TurnAdvice | undefined> = {
      a: { context: 'one', note: 'n'.repeat(GATE_TEXT_MAX_CHARACTERS + 1) },
      b: { context: `${long}two` },
      c: { context: 'three', blocked: 'no' },
      d: { blocked: 'never', note: 'note' },
    };
    const asked = request([...'abcdef'].map((id) => named(id, {})));
    const advice = await adviceFor(async ({ id }) => {
      if (id === 'e') throw new Error('broken');
      return answers[id];
    }, asked);
    expect(advice).toEqual({
      context: ['one', long],
      notes: ['n'.repeat(GATE_TEXT_MAX_CHARACTERS), 'note'],
      blocked: 'no',
    });
    expect(asked.logger.log.mock.calls.map(([, , fields]) => fields)).toEqual([
      { extension: 'e', error: 'Error: broken' },
    ]);
    expect(await adviceFor(async () => undefined, request([a]))).toEqual({ context: [], notes: [] });
  });

  it('object to the end of a turn, each with its name', async () => {
    expect(await objectionTo(async ({ id }) => `not yet, ${id}`, request([a, b]))).toBe('a: not yet, a\nb: not yet, b');
    expect(await objectionTo(async () => undefined, request([a, b]))).toBeUndefined();
  });

  it('are waited for while they start, and not longer than they may take, or the turn lasts', async () => {
    const ready = vi.fn(async () => {});
    await untilReady(request([named('a', { untilReady: ready }), b]));
    expect(ready).toHaveBeenCalledOnce();
    const timers: [number, () => void][] = [];
    const after = (ms: number, run: () => void) => {
      timers.push([ms, run]);
      return () => {};
    };
    const never = named('a', { untilReady: () => new Promise(() => {}) });
    const slow = request([never], { clock: { now: () => 0, after } });
    const waiting = untilReady(slow);
    expect(timers.map(([ms]) => ms)).toEqual([EXTENSION_TIMEOUT_MS]);
    timers[0]?.[1]();
    await waiting;
    expect(slow.logger.log).toHaveBeenCalledOnce();
    const turn = new AbortController();
    const cut = request([never], { signal: turn.signal });
    const over = untilReady(cut);
    turn.abort(new Error('over'));
    await expect(over).rejects.toThrow('over');
    expect(cut.logger.log).not.toHaveBeenCalled();
  });
});
