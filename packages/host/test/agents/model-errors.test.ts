import { AgentError } from '@atrium/core/contracts/agent.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { modelError, SERVER_MESSAGE_MAX_CHARACTERS } from '../../../agents/src/shared/model-errors.js';
import { FakeTurn, runTurn } from '../support/fake-turn.js';
import { ModelServer } from '../support/model-server.js';

const PLACE = { displayName: 'Model', modelId: 'm-1', baseURL: 'http://localhost:1/v1' };
const refusal = (statusCode: number, message: string) => Object.assign(new Error(message), { statusCode });

describe('a failure of a model server', () => {
  it.each<[string, unknown, string]>([
    ['a refused key', refusal(403, 'no'), 'auth'],
    ['a missing key', new Error('OpenAI API key is missing.'), 'auth'],
    ['too many requests', refusal(429, 'context length is not the point here'), 'rate-limited'],
    ['a server that is down', refusal(503, 'upstream'), 'overloaded'],
    ['an error within a stream', { type: 'overloaded_error', message: 'busy' }, 'overloaded'],
    ['an error within an error', { error: { code: 'rate_limit_exceeded', message: 'slow' } }, 'rate-limited'],
    ['a prompt that is too long', refusal(400, 'prompt is too long: 9 > 8'), 'context-overflow'],
    ['a full local model', refusal(500, 'the request exceeds the available context size'), 'context-overflow'],
    ['a body that is too large', refusal(413, 'payload'), 'context-overflow'],
    ['an unknown model', refusal(400, 'model "m-1" not found, try pulling it first'), 'model-not-found'],
    ['a closed port', new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }), 'network'],
    ['the last of several attempts', { lastError: refusal(401, 'no'), message: 'gave up' }, 'auth'],
    ['anything else', new Error('odd'), 'other'],
    ['a bare string', 'odd', 'other'],
  ])('has a type: %s', (_what, error, type) => {
    expect(modelError(error, PLACE)).toMatchObject({ name: 'AgentError', errorType: type });
  });

  it('says what to do, and what the server said, but not at any length', () => {
    expect(modelError(refusal(404, 'gone'), PLACE).message).toBe(
      'Model has no model m-1. Choose another model. (404: gone)',
    );
    const { message } = modelError(refusal(500, 'z'.repeat(5_000)), PLACE);
    expect(message.match(/z/g)?.length).toBe(SERVER_MESSAGE_MAX_CHARACTERS);
  });

  it('of our own stays as it is', () => {
    const error = new AgentError('model-not-found', 'none');
    expect(modelError(error, PLACE)).toBe(error);
  });

  it('names the address that nobody answers at', async () => {
    const server = await ModelServer.start();
    const { url } = server;
    await server.stop();
    const models = [{ id: 'm-1', name: 'M 1' }];
    const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
    const turn = runTurn(modelAgent({ ...options, baseURL: url }), new FakeTurn('go'));
    await expect(turn).rejects.toMatchObject({ errorType: 'network', message: expect.stringContaining(url) });
  });

  it('in the middle of an answer is told from one before it', async () => {
    const server = await ModelServer.start({ text: ['so far'], ending: 'cut' });
    onTestFinished(() => server.stop());
    const models = [{ id: 'm-1', name: 'M 1' }];
    const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
    const turn = runTurn(modelAgent({ ...options, baseURL: server.url }), new FakeTurn('go'));
    const message = expect.stringContaining('broke off in the middle of its answer');
    await expect(turn).rejects.toMatchObject({ errorType: 'network', message });
  });

  it('is one when there is no model to ask, or no address', async () => {
    const server = await ModelServer.start();
    onTestFinished(() => server.stop());
    const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models: [] } as const;
    const turn = runTurn(modelAgent({ ...options, baseURL: server.url }), new FakeTurn('go'));
    await expect(turn).rejects.toMatchObject({ errorType: 'model-not-found' });
    expect(() => modelAgent(options)).toThrow('needs a baseURL');
  });
});
