/** Agents speak no faster than the host can store. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import { FakeTurn, runTurn } from '../support/fake-turn.js';
import { ModelServer } from '../support/model-server.js';

const PIECE = 'many words, again and again. '.repeat(30);
const PIECES = 1_000;
/** What the buffers of two sockets and their readers may hold when the reading stops. */
const READ_AHEAD_MAX_CHARACTERS = 200_000;

/** A turn that falls behind with the first word, until it is told to go on. */
class SlowTurn extends FakeTurn {
  #caughtUp: Promise<void>;
  goOn = (): void => {};

  constructor() {
    super('speak');
    this.#caughtUp = new Promise((resolve) => {
      this.goOn = () => {
        this.#caughtUp = Promise.resolve();
        resolve();
      };
    });
  }

  override caughtUp(): Promise<void> | undefined {
    return this.said === '' ? undefined : this.#caughtUp;
  }
}

describe('an agent that speaks while storing is behind', () => {
  it.each<ModelApi>(['openai-compatible', 'openai', 'anthropic'])(
    '[CLU-015] leaves the rest of the answer in its socket until it has caught up (%s)',
    async (kind) => {
      const server = await ModelServer.start({ text: Array(PIECES).fill(PIECE) });
      onTestFinished(() => server.stop());
      const models = [{ id: 'm-1', name: 'M 1' }];
      const options = { provider: 'model', displayName: 'Model', kind, models, retries: 0, baseURL: server.url };
      const turn = new SlowTurn();
      const running = runTurn(modelAgent(options), turn);
      while (turn.said === '') await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise((resolve) => setTimeout(resolve, 200));
      const before = turn.said.length;
      expect(before).toBeLessThan(READ_AHEAD_MAX_CHARACTERS);
      expect(PIECE.length * PIECES).toBeGreaterThan(4 * READ_AHEAD_MAX_CHARACTERS);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(turn.said.length).toBe(before);
      turn.goOn();
      await running;
      expect(turn.said).toBe(PIECE.repeat(PIECES));
    },
    20_000,
  );

  it('[CLU-015] waits between the pieces of a script', async () => {
    const script = { provider: 's', displayName: 'S', models: [], prompts: {} };
    const turn = new SlowTurn();
    const agent = scriptedAgent({ ...script, default: [{ text: 'abcdef', chunk: 1 }, { title: 'end' }] });
    const running = runTurn(agent, turn);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(turn.events).toEqual([{ text: 'a' }]);
    turn.goOn();
    await running;
    expect(turn.said).toBe('abcdef');
  });
});
