/** Results that providers leave in files: real files, links, pipes and folders. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MODEL_OUTPUT_MAX_CHARACTERS } from '@atrium/core/tool-calls/limits.js';
import { FILE_RESULT_MAX_BYTES } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { readFileResult } from '../../../src/gateway/tools/provider-results.js';
import { pair } from '../../support/gateway-connections.js';
import {
  answerNext,
  call,
  callsOf,
  decide,
  openProviderFixture,
  type ProviderFixture,
  tool,
  YES,
} from '../../support/provider-fixture.js';
import { openPuppetFixture, runningCall } from '../../support/session-fixture.js';
import { tempFolder } from '../../support/temp-folder.js';
import { TestProvider } from '../../support/test-provider.js';

/** Exchanges a folder for a link to another one and back, as fast as it can. */
const SWAP = `
  const { renameSync, symlinkSync, unlinkSync } = require('fs');
  const [inside, outside] = process.argv.slice(1);
  console.log('swapping');
  for (;;) {
    renameSync(inside, inside + '.parked');
    symlinkSync(outside, inside);
    unlinkSync(inside);
    renameSync(inside + '.parked', inside);
  }`;

interface FileFixture extends ProviderFixture {
  readonly folder: string;
  readonly persistDir: string;
}

async function openFileFixture(): Promise<FileFixture> {
  const folder = await tempFolder({ 'outside.txt': 'secret', 'other/theirs.txt': 'secret' });
  const fixture = await openPuppetFixture({ providerFolder: folder });
  const provider = TestProvider.connect(fixture.host);
  const { persistDir = '' } = await provider.hello({ tools: [tool('a')] });
  return { ...fixture, provider, sessionId: '', folder, persistDir };
}

function reference(file: string, size: number, more: object = {}) {
  return { path: file, mimeType: 'text/plain', size, ttl: 60, ...more };
}

async function resultOf(fixture: ProviderFixture, file: object) {
  const outcome = call(fixture, 'a');
  await answerNext(fixture.provider, { file });
  await outcome;
  const last = (await callsOf(fixture)).at(-1);
  if (last?.status !== 'completed') throw new Error(`the call is ${last?.status}`);
  return last;
}

describe('a result in a file', () => {
  it('[GW-129] [UNI-026] reaches the model with its kind, and without the path', async () => {
    const fixture = await openFileFixture();
    const text = path.join(fixture.persistDir, 'a.txt');
    await writeFile(text, 'käse');
    expect(await resultOf(fixture, reference(text, 5))).toMatchObject({
      success: true,
      content: [{ type: 'text', text: 'käse' }],
    });
    const picture = path.join(fixture.persistDir, 'a.png');
    await writeFile(picture, Buffer.from([137, 80, 78, 71]));
    const result = await resultOf(fixture, reference(picture, 4, { mimeType: 'image/png' }));
    expect(result.content).toEqual([{ type: 'embeddedResource', contentType: 'image/png', data: 'iVBORw==' }]);
    expect(JSON.stringify(result)).not.toContain(fixture.persistDir);
  });

  it('[GW-129] may have eight megabytes; the model gets as much of it as of any result', async () => {
    const fixture = await openFileFixture();
    const size = 8 * 2 ** 20;
    const big = path.join(fixture.persistDir, 'big');
    await writeFile(big, Buffer.alloc(size, 'x'));
    const outcome = call(fixture, 'a');
    await answerNext(fixture.provider, { file: reference(big, size) });
    const done = await outcome;
    expect(done).toMatchObject({ kind: 'completed', success: true });
    const text = done.kind === 'completed' ? done.text : '';
    expect(text).toContain('lines left out here');
    expect(text.length).toBeGreaterThan(MODEL_OUTPUT_MAX_CHARACTERS / 2);
    expect(text.length).toBeLessThanOrEqual(MODEL_OUTPUT_MAX_CHARACTERS);
    const left = await resultOf(fixture, reference(big, size, { mimeType: 'image/png' }));
    expect(left).toMatchObject({ success: true, content: [{ text: expect.stringContaining('Left out: image/png') }] });
  });

  it("[GW-130] [REL-048] must be inside of the provider's own folder, by its real path", async () => {
    const fixture = await openFileFixture();
    const { persistDir, folder } = fixture;
    await symlink(path.join(folder, 'outside.txt'), path.join(persistDir, 'link.txt'));
    await symlink(folder, path.join(persistDir, 'up'));
    const outside = [
      path.join(persistDir, '..', 'outside.txt'),
      `${persistDir}/../outside.txt`,
      path.join(folder, 'other', 'theirs.txt'),
      path.join(persistDir, 'link.txt'),
      path.join(persistDir, 'up', 'outside.txt'),
      'relative.txt',
      path.join(persistDir, 'is-not-there'),
      persistDir,
      '',
    ];
    for (const file of outside) {
      const result = await resultOf(fixture, reference(file, 6));
      expect(result).toMatchObject({ success: false, error: { code: 'INTERNAL' } });
      expect(JSON.stringify(result)).not.toContain('secret');
    }
  });

  it.runIf(process.platform !== 'win32')(
    '[GW-130] must be a file: a folder is none, and a pipe does not keep us waiting',
    async () => {
      const fixture = await openFileFixture();
      const [folder, pipe] = [path.join(fixture.persistDir, 'folder'), path.join(fixture.persistDir, 'pipe')];
      await mkdir(folder);
      execFileSync('mkfifo', [pipe]);
      for (const file of [folder, pipe])
        expect(await resultOf(fixture, reference(file, 0))).toMatchObject({
          error: { message: 'the path of the result is not a file' },
        });
    },
  );

  it('[GW-131] [REL-048] is read when the answer comes: later nobody needs it, and before that it must be there', async () => {
    const fixture = await openFileFixture();
    const file = path.join(fixture.persistDir, 'short.txt');
    await writeFile(file, 'brief');
    expect(await resultOf(fixture, reference(file, 5, { ttl: 0 }))).toMatchObject({ content: [{ text: 'brief' }] });
    await rm(file);
    expect((await callsOf(fixture))[0]).toMatchObject({ content: [{ text: 'brief' }] });
    expect(await resultOf(fixture, reference(file, 5))).toMatchObject({
      error: { message: expect.stringContaining('exist') },
    });
  });

  it('[GW-132] is not for strangers: the call fails, and they hear why', async () => {
    const folder = await tempFolder({ 'browser/a.txt': 'hello' });
    const base = await openPuppetFixture({ providerFolder: folder });
    const { provider } = await pair(base);
    const { persistDir } = await provider.hello({ name: 'browser', tools: [tool('a')] });
    expect(persistDir).toBeUndefined();
    const fixture = { ...base, provider, sessionId: '' };
    const outcome = call(fixture, 'a');
    const { toolCallId } = await runningCall(base.client, base.uri, 'pending-confirmation');
    decide(base, toolCallId, YES);
    await answerNext(provider, { file: reference(path.join(folder, 'browser', 'a.txt'), 5) });
    expect(await outcome).toMatchObject({ success: false });
    expect((await callsOf(fixture))[0]).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
    expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'tool.result' });
  });

  it('[GW-132] is for nobody where the host has no folder for it', async () => {
    const fixture = await openProviderFixture({ tools: [tool('a')] });
    const folder = await tempFolder({ 'a.txt': 'hello' });
    expect(await resultOf(fixture, reference(path.join(folder, 'a.txt'), 5))).toMatchObject({
      success: false,
      error: { code: 'UNAUTHORIZED' },
    });
  });

  it('[GW-133] must have the size that it says, and not too much of it', async () => {
    const fixture = await openFileFixture();
    const file = path.join(fixture.persistDir, 'a.bin');
    await writeFile(file, 'four');
    for (const size of [3, 5, Number.MAX_SAFE_INTEGER])
      expect(await resultOf(fixture, reference(file, size))).toMatchObject({
        error: { message: `the file has 4 bytes, not ${size} as the result says` },
      });
    await truncate(file, FILE_RESULT_MAX_BYTES + 1);
    const huge = await resultOf(fixture, reference(file, FILE_RESULT_MAX_BYTES + 1));
    expect(huge).toMatchObject({ success: false, error: { message: expect.stringContaining('more than') } });
  });

  it.runIf(process.platform === 'linux')(
    '[REL-048] that is exchanged all the time while it is read gives the right text or none',
    async () => {
      const folder = await realpath(await tempFolder({ 'own/in/a.txt': 'inside', 'out/a.txt': 'secret' }));
      const own = path.join(folder, 'own');
      const swapper = spawn(process.execPath, ['-e', SWAP, path.join(own, 'in'), path.join(folder, 'out')]);
      const ended = once(swapper, 'exit');
      await once(swapper.stdout, 'data');
      const seen = new Set<string>();
      for (let attempt = 0; attempt < 1_000; attempt++) {
        const read = readFileResult(reference(path.join(own, 'in', 'a.txt'), 6), own);
        seen.add(await read.then(({ bytes }) => bytes.toString()).catch(() => 'refused'));
      }
      swapper.kill();
      await ended;
      expect(seen).not.toContain('secret');
      expect(seen).toContain('refused');
    },
  );
});
