/** A host with TLS, as people and programs of its machine meet it: the link, the commands, the client library. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from '@atrium/client';
import { runningInstances } from '@atrium/host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificate } from '../../../test/support/certificate.js';
import { isBuilt, newDataFolder } from './support/host.js';
import { atrium, endOf, type LocalRun, spawnAtrium } from './support/run-cli.js';

const TOKEN = 'the-token-of-the-tests-0123456789';

describe.skipIf(!isBuilt || !hasOpenssl)(
  'atrium serve with TLS (skipped unless the command has been built and openssl is there)',
  { timeout: 60_000 },
  () => {
    const cleanUps: (() => Promise<void>)[] = [];
    const later = (cleanUp: () => Promise<void>) => void cleanUps.push(cleanUp);
    let dataDir: string;
    let serve: LocalRun;
    let port: number;
    /** For localhost by name, of nobody's authority. */
    let own: { cert: string; key: string };

    beforeAll(async () => {
      const folder = await mkdtemp(path.join(tmpdir(), 'atrium-cli-tls-'));
      later(() => rm(folder, { recursive: true, force: true }));
      own = makeCertificate(folder, 'own', 'DNS:localhost');
      dataDir = await newDataFolder(later);
      const tls = ['--tls-cert', own.cert, '--tls-key', own.key];
      const args = ['serve', '--port', '0', '--connection-token', TOKEN, '--data-dir', dataDir, ...tls];
      serve = atrium(args, {}, { later });
      port = Number((await serve.says(/Connect +wss:\/\/localhost:(\d+)\n/))[1]);
    });
    afterAll(async () => {
      for (const cleanUp of cleanUps.reverse()) await cleanUp();
    });

    it('[DEV-051] shows addresses with https and wss, and tells local programs its certificate', async () => {
      expect(serve.said.stdout).toContain(`Open      https://localhost:${port}/`);
      expect(serve.said.stdout).not.toMatch(/\b(ws|http):\/\/localhost:(?!9400)\d+\/?\n.*Token/);
      const [instance] = await runningInstances(dataDir);
      expect(instance).toMatchObject({ url: `wss://localhost:${port}`, certificateFile: own.cert });
    });

    it('[DEV-051] is found by the commands of its machine without further ado', async () => {
      const { code, stderr } = await endOf(atrium(['sessions', 'list', '--data-dir', dataDir]));
      expect([code, stderr]).toEqual([0, '']);
    });

    it('[DEV-051] is trusted by name with NODE_EXTRA_CA_CERTS, and otherwise the command says so', async () => {
      const url = ['sessions', 'list', '--url', `https://localhost:${port}/#token=${TOKEN}`];
      const stranger = await endOf(atrium(url));
      expect(stranger.code).toBe(1);
      expect(stranger.stderr).toMatch(/its certificate is not trusted here .* NODE_EXTRA_CA_CERTS/);
      const trusting = await endOf(spawnAtrium(url, { NODE_EXTRA_CA_CERTS: own.cert }));
      expect([trusting.code, trusting.stderr]).toEqual([0, '']);
    });

    it('[DEV-051] is reached by the client library with its certificate, under any name, and with no other one', async () => {
      const certificate = await readFile(own.cert, 'utf8');
      const url = `wss://127.0.0.1:${port}`;
      const client = await connect({ url, token: TOKEN, certificate, log: () => {} });
      expect(client.host.serverInfo?.name).toBe('atrium');
      client.close();
      const other = await readFile(makeCertificate(path.dirname(own.cert), 'other', 'DNS:localhost').cert, 'utf8');
      for (const wrong of [other, '', `${other}${certificate}`])
        await expect(connect({ url, token: TOKEN, certificate: wrong, log: () => {} })).rejects.toThrow(
          /its certificate is not trusted/,
        );
    });
  },
);
