/** Hooks that hear of the end of a turn, and may send the agent on. */
import { access, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { TURN_CONTINUED_MAX } from '@atrium/core/sessions/limits.js';
import { describe, expect, it } from 'vitest';
import { type CustomRoom, type CustomRoomOptions, openCustomRoom, POLL } from '../support/custom-room.js';

function hooksFile(...commands: readonly string[]): string {
  const hooks = commands.map((command) => ({ type: 'command', command }));
  return JSON.stringify({ hooks: { Stop: [{ hooks }] } });
}

const FILE = 'plugins/guard/hooks/hooks.json';

async function openStopRoom(commands: readonly string[], options: CustomRoomOptions = {}): Promise<CustomRoom> {
  const room = await openCustomRoom({ ...options, user: { [FILE]: hooksFile(...commands) } });
  await room.entry('guard');
  return room;
}

/** Objects once. */
const ONCE =
  'input=$(cat); case "$input" in *\'"stop_hook_active":true\'*) exit 0;; esac; echo "run the tests" >&2; exit 2';
const ALWAYS = `echo '{"decision":"block","reason":"more"}'`;

async function notes(room: CustomRoom): Promise<string[]> {
  const [turn] = (await room.state()).turns;
  return (turn?.responseParts ?? []).flatMap((part) =>
    part.kind === 'systemNotification' ? String(part.content) : [],
  );
}

const ends = (room: CustomRoom) =>
  room.desk.envelopes(room.uri).filter(({ action }) => String(action.type).match(/turnComplete|session\/error/));

describe('hooks at the end of a turn', { timeout: 30_000 }, () => {
  it('[CUS-052] send the agent on: it hears why, people see it, and it is still the same turn', async () => {
    const room = await openStopRoom([ONCE]);
    const first = await room.turn('build it');
    first.turn.text('Built.');
    first.finish();
    const second = await room.agent.turn(1);
    expect(second.turn.id).toBe('t1');
    expect(second.turn.message.text).toContain('guard: run the tests');
    expect(second.turn.context).toEqual([]);
    expect(ends(room)).toEqual([]);
    second.turn.title('run the tests');
    second.turn.text('Tested.');
    second.finish();
    await room.desk.action(room.uri, 'session/turnComplete');
    const { turns, summary } = await room.state();
    expect(turns).toMatchObject([{ id: 't1', state: 'complete', userMessage: { text: 'build it' } }]);
    expect(turns[0]?.responseParts.map((part) => 'content' in part && part.content)).toEqual([
      'Built.',
      'guard: run the tests',
      'Tested.',
    ]);
    expect(summary.title).not.toContain('tests');
  });

  it('[CUS-052] cannot do so without an end', async () => {
    const room = await openStopRoom([ALWAYS]);
    for (let index = 0; index <= TURN_CONTINUED_MAX; index++) {
      if (index === 0) (await room.turn()).finish();
      else (await room.agent.turn(index)).finish();
    }
    await room.desk.action(room.uri, 'session/turnComplete');
    expect(room.agent.turns).toHaveLength(TURN_CONTINUED_MAX + 1);
    expect((await notes(room)).at(-1)).toBe(
      `The turn ends all the same: the agent was sent on ${TURN_CONTINUED_MAX} times already.`,
    );
  });

  it('[CUS-052] let it end when they want all work to end, when they fail, and when they say nothing', async () => {
    const halt = `echo '{"continue":false,"decision":"block","reason":"enough"}'`;
    const room = await openStopRoom([halt, 'exit 1', 'exit 0', 'echo done']);
    (await room.turn()).finish();
    await room.desk.action(room.uri, 'session/turnComplete');
    expect([room.agent.turns.length, await notes(room)]).toEqual([1, []]);
  });

  it('[CUS-057] do not run while nobody trusts them', async () => {
    const command = `touch ran.txt; ${ALWAYS}`;
    const room = await openCustomRoom({ project: { [`.agents/${FILE}`]: hooksFile(command) } });
    await room.entry('guard');
    (await room.turn()).finish();
    await room.desk.action(room.uri, 'session/turnComplete');
    expect(room.agent.turns).toHaveLength(1);
    await expect(access(path.join(room.folder, 'ran.txt'))).rejects.toThrow();
  });

  it('are over at once when a person cancels the turn meanwhile, and so is their process', async () => {
    const room = await openStopRoom(['echo $$ > pid.txt; sleep 60']);
    const { turnId, finish, turn } = await room.turn();
    finish();
    const pid = async () => Number(await readFile(path.join(room.folder, 'pid.txt'), 'utf8').catch(() => ''));
    await expect.poll(pid, POLL).toBeGreaterThan(0);
    room.desk.dispatch(room.uri, { type: 'session/turnCancelled', turnId });
    await room.desk.action(room.uri, 'session/turnCancelled');
    await expect.poll(() => turn.signal.aborted, POLL).toBe(true);
    const process_ = await pid();
    await expect.poll(() => isRunning(process_), POLL).toBe(false);
    expect(room.agent.turns).toHaveLength(1);
    expect(ends(room)).toEqual([]);
  });

  it('leave time for a person to say more: the agent hears it in the same turn', async () => {
    const room = await openStopRoom(['touch here.txt; while [ ! -e go.txt ]; do sleep 0.05; done']);
    (await room.turn()).finish();
    await expect
      .poll(
        () =>
          access(path.join(room.folder, 'here.txt')).then(
            () => true,
            () => false,
          ),
        POLL,
      )
      .toBe(true);
    const steering = { type: 'session/pendingMessageSet', kind: 'steering', id: 's1' } as const;
    room.desk.dispatch(room.uri, { ...steering, userMessage: { text: 'one more thing' } });
    await room.desk.action(room.uri, 'session/pendingMessageSet');
    await writeFile(path.join(room.folder, 'go.txt'), '');
    const second = await room.agent.turn(1);
    expect([second.turn.id, second.turn.message.text]).toEqual(['t1', 'one more thing']);
    second.finish();
    await room.desk.action(room.uri, 'session/turnComplete');
    expect((await room.state()).steeringMessage).toBeUndefined();
  });

  it('do not run for a turn that failed', async () => {
    const room = await openStopRoom(['touch ran.txt']);
    (await room.turn()).fail(new Error('broken'));
    await room.desk.action(room.uri, 'session/error');
    await room.host.stop();
    await expect(access(path.join(room.folder, 'ran.txt'))).rejects.toThrow();
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
