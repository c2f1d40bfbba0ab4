/** Hooks that hear of the end of a turn, and may send the agent on. */
import { access, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { TURN_CONTINUED_MAX } from '@atrium/core/sessions/limits.js';
import { describe, expect, it } from 'vitest';
import { type CustomFixture, type CustomFixtureOptions, openCustomFixture, POLL } from '../support/custom-fixture.js';

function hooksFile(...commands: readonly string[]): string {
  const hooks = commands.map((command) => ({ type: 'command', command }));
  return JSON.stringify({ hooks: { Stop: [{ hooks }] } });
}

const FILE = 'plugins/guard/hooks/hooks.json';

async function openStopFixture(
  commands: readonly string[],
  options: CustomFixtureOptions = {},
): Promise<CustomFixture> {
  const fixture = await openCustomFixture({ ...options, user: { [FILE]: hooksFile(...commands) } });
  await fixture.entry('guard');
  return fixture;
}

/** Objects once. */
const ONCE =
  'input=$(cat); case "$input" in *\'"stop_hook_active":true\'*) exit 0;; esac; echo "run the tests" >&2; exit 2';
const ALWAYS = `echo '{"decision":"block","reason":"more"}'`;

async function notes(fixture: CustomFixture): Promise<string[]> {
  const [turn] = (await fixture.state()).turns;
  return (turn?.responseParts ?? []).flatMap((part) =>
    part.kind === 'systemNotification' ? String(part.content) : [],
  );
}

const ends = (fixture: CustomFixture) =>
  fixture.client
    .envelopes(fixture.uri)
    .filter(({ action }) => String(action.type).match(/turnComplete|session\/error/));

describe('hooks at the end of a turn', { timeout: 30_000 }, () => {
  it('[CUS-052] send the agent on: it hears why, people see it, and it is still the same turn', async () => {
    const fixture = await openStopFixture([ONCE]);
    const first = await fixture.turn('build it');
    first.turn.text('Built.');
    first.finish();
    const second = await fixture.agent.turn(1);
    expect(second.turn.id).toBe('t1');
    expect(second.turn.message.text).toContain('guard: run the tests');
    expect(second.turn.context).toEqual([]);
    expect(ends(fixture)).toEqual([]);
    second.turn.title('run the tests');
    second.turn.text('Tested.');
    second.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    const { turns, summary } = await fixture.state();
    expect(turns).toMatchObject([{ id: 't1', state: 'complete', userMessage: { text: 'build it' } }]);
    expect(turns[0]?.responseParts.map((part) => 'content' in part && part.content)).toEqual([
      'Built.',
      'guard: run the tests',
      'Tested.',
    ]);
    expect(summary.title).not.toContain('tests');
  });

  it('[CUS-052] cannot do so without an end', async () => {
    const fixture = await openStopFixture([ALWAYS]);
    for (let index = 0; index <= TURN_CONTINUED_MAX; index++) {
      if (index === 0) (await fixture.turn()).finish();
      else (await fixture.agent.turn(index)).finish();
    }
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    expect(fixture.agent.turns).toHaveLength(TURN_CONTINUED_MAX + 1);
    expect((await notes(fixture)).at(-1)).toBe(
      `The turn ends anyway: the agent has already been made to continue ${TURN_CONTINUED_MAX} times.`,
    );
  });

  it('[CUS-052] let it end when they want all work to end, when they fail, and when they say nothing', async () => {
    const halt = `echo '{"continue":false,"decision":"block","reason":"enough"}'`;
    const fixture = await openStopFixture([halt, 'exit 1', 'exit 0', 'echo done']);
    (await fixture.turn()).finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    expect([fixture.agent.turns.length, await notes(fixture)]).toEqual([1, []]);
  });

  it('[CUS-057] do not run while nobody trusts them', async () => {
    const command = `touch ran.txt; ${ALWAYS}`;
    const fixture = await openCustomFixture({ project: { [`.agents/${FILE}`]: hooksFile(command) } });
    await fixture.entry('guard');
    (await fixture.turn()).finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    expect(fixture.agent.turns).toHaveLength(1);
    await expect(access(path.join(fixture.folder, 'ran.txt'))).rejects.toThrow();
  });

  it('are over at once when a person cancels the turn meanwhile, and so is their process', async () => {
    const fixture = await openStopFixture(['echo $$ > pid.txt; sleep 60']);
    const { turnId, finish, turn } = await fixture.turn();
    finish();
    const pid = async () => Number(await readFile(path.join(fixture.folder, 'pid.txt'), 'utf8').catch(() => ''));
    await expect.poll(pid, POLL).toBeGreaterThan(0);
    fixture.client.dispatch(fixture.uri, { type: 'session/turnCancelled', turnId });
    await fixture.client.action(fixture.uri, 'session/turnCancelled');
    await expect.poll(() => turn.signal.aborted, POLL).toBe(true);
    const process_ = await pid();
    await expect.poll(() => isRunning(process_), POLL).toBe(false);
    expect(fixture.agent.turns).toHaveLength(1);
    expect(ends(fixture)).toEqual([]);
  });

  it('leave time for a person to say more: the agent hears it in the same turn', async () => {
    const fixture = await openStopFixture(['touch here.txt; while [ ! -e go.txt ]; do sleep 0.05; done']);
    (await fixture.turn()).finish();
    await expect
      .poll(
        () =>
          access(path.join(fixture.folder, 'here.txt')).then(
            () => true,
            () => false,
          ),
        POLL,
      )
      .toBe(true);
    const steering = { type: 'session/pendingMessageSet', kind: 'steering', id: 's1' } as const;
    fixture.client.dispatch(fixture.uri, { ...steering, userMessage: { text: 'one more thing' } });
    await fixture.client.action(fixture.uri, 'session/pendingMessageSet');
    await writeFile(path.join(fixture.folder, 'go.txt'), '');
    const second = await fixture.agent.turn(1);
    expect([second.turn.id, second.turn.message.text]).toEqual(['t1', 'one more thing']);
    second.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    expect((await fixture.state()).steeringMessage).toBeUndefined();
  });

  it('do not run for a turn that failed', async () => {
    const fixture = await openStopFixture(['touch ran.txt']);
    (await fixture.turn()).fail(new Error('broken'));
    await fixture.client.action(fixture.uri, 'session/error');
    await fixture.host.stop();
    await expect(access(path.join(fixture.folder, 'ran.txt'))).rejects.toThrow();
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
