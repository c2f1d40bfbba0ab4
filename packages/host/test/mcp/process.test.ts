import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MCP_GARBAGE_MAX_LINES } from '../../src/plugins/mcp/limits.js';
import { hurriedClock } from '../support/mcp-clock.js';
import { call, inState, isAlive, McpFixture, processConfig, textOf } from '../support/mcp-fixture.js';
import { temporaryFolder } from '../tools/tool-box.js';

const fixture = new McpFixture();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => fixture.close());
afterAll(() => remove());

describe('the process of a server', { timeout: 30_000 }, () => {
  it('[CUS-062] gets the environment in layers, without the keys of the host, and starts where it should', async () => {
    const env = {
      ...process.env,
      BASE: 'base',
      BOTH: 'base',
      GONE: 'base',
      ATRIUM_MODEL_KEY: 'secret',
      PLUGIN_ROOT: 'x',
    };
    const own = { BOTH: 'own', GONE: null, PLUGIN_ROOT: '/plugins/one' };
    const { server } = await fixture.ready(processConfig('good', '', own), { env, folder });
    const place = async (text: string) => JSON.parse(textOf(await call(server, 'place', { text })));
    expect(await place('BASE')).toEqual({ cwd: folder, value: 'base' });
    expect((await place('BOTH')).value).toBe('own');
    expect((await place('GONE')).value).toBeNull();
    expect((await place('PLUGIN_ROOT')).value).toBe('/plugins/one');
    expect((await place('ATRIUM_MODEL_KEY')).value).toBeNull();
  });

  it('starts where its declaration says, rather than in the folder of the session', async () => {
    const config = { ...processConfig('good'), cwd: folder };
    const { server } = await fixture.ready(config, { folder: path.dirname(folder) });
    expect(JSON.parse(textOf(await call(server, 'place', { text: 'X' }))).cwd).toBe(folder);
  });

  it('[CUS-065] takes its children with it when it is stopped, also stubborn ones', async () => {
    const { server } = await fixture.ready(processConfig('good'), { clock: hurriedClock });
    const pid = Number(textOf(await call(server, 'family', { text: 'stubborn' })));
    expect(isAlive(pid)).toBe(true);
    await server.stop();
    expect(isAlive(pid)).toBe(false);
  });

  it('leaves no children behind when it crashes', async () => {
    const { server } = await fixture.ready(processConfig('good'));
    const pid = Number(textOf(await call(server, 'family')));
    await call(server, 'crash');
    await inState(server, 'error');
    expect(isAlive(pid)).toBe(false);
  });

  it('is killed when it neither ends with its input nor when it is asked to', async () => {
    const file = path.join(folder, 'clings');
    const { server } = fixture.server(processConfig('clings', file), {}, hurriedClock);
    server.start();
    await expect.poll(() => readFile(file, 'utf8').catch(() => ''), { timeout: 15_000 }).not.toBe('');
    const pid = Number(await readFile(file, 'utf8'));
    expect(isAlive(pid)).toBe(true);
    await server.stop();
    expect(isAlive(pid)).toBe(false);
  });

  it('[CUS-076] is ended when it floods its output with lines that are no messages', async () => {
    const { server } = fixture.server(processConfig('babbles'));
    server.start();
    const { message } = await inState(server, 'error');
    expect(message).toContain(`wrote ${MCP_GARBAGE_MAX_LINES + 1} lines in a row that are no MCP messages`);
  });

  it('[CUS-076] is ended when a line never ends, and memory does not grow with it', async () => {
    const before = process.memoryUsage().rss;
    const { server } = fixture.server(processConfig('drones'));
    server.start();
    expect((await inState(server, 'error')).message).toContain('more than 8 MiB');
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
  });

  it('is forgiven a few lines of greeting', async () => {
    const { server } = await fixture.ready(processConfig('greets'));
    expect(textOf(await call(server, 'echo', { text: 'fine' }))).toBe('fine');
  });
});
