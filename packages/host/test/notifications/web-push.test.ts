/** Web Push as its standards want it: encryption, signature, and the keys of the host. */
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { VAPID_VALID_MS } from '../../src/notifications/limits.js';
import { VAPID_FILE, vapidKeys } from '../../src/notifications/vapid-file.js';
import { areUsableKeys, encrypt, newVapidKeys, vapidHeader, vapidKeysOf } from '../../src/notifications/web-push.js';
import { TestBrowser, vapidClaims } from '../support/push-service.js';
import { tempFolder } from '../support/temp-folder.js';

describe('a message by Web Push', () => {
  it('[DEV-042] is encrypted as in the example of RFC 8291', () => {
    const from = (text: string) => Buffer.from(text, 'base64url');
    const keys = {
      p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
      auth: 'BTBZMqHH6r4Tts7J_aSIgg',
    };
    const seed = {
      salt: from('DGv6ra1nlYgDCS1FRnbzlw'),
      privateKey: from('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
    };
    const body = encrypt(Buffer.from('When I grow up, I want to be a watermelon'), keys, seed);
    expect(body.toString('base64url')).toBe(
      'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    );
  });

  it('[DEV-042] is read by its browser, and by no other', () => {
    const browser = new TestBrowser('https://push.example/1');
    const other = new TestBrowser('https://push.example/2');
    const message = { id: 'i', tag: 't', kind: 'show', event: 'ended', title: 'Grüße 🌧' };
    const body = encrypt(Buffer.from(JSON.stringify(message)), browser.subscription.keys);
    const received = { path: '', headers: {}, body };
    expect(browser.read(received)).toEqual(message);
    expect(() => other.read(received)).toThrow();
    expect(body.includes('Gr')).toBe(false);
  });

  it('[DEV-042] is signed for one push service, for less than a day', () => {
    const keys = newVapidKeys();
    const now = Date.UTC(2026, 10, 18);
    const facts = { keys, endpoint: 'https://push.example:8443/a/b', now, contact: 'mailto:operator@example.org' };
    expect(vapidClaims(vapidHeader(facts), keys.publicKey)).toEqual({
      aud: 'https://push.example:8443',
      exp: (now + VAPID_VALID_MS) / 1_000,
      sub: 'mailto:operator@example.org',
    });
    expect(VAPID_VALID_MS).toBeLessThan(24 * 60 * 60_000);
    expect(() => vapidClaims(vapidHeader(facts), newVapidKeys().publicKey)).toThrow();
  });

  it('[DEV-042] goes only to keys that a browser can have', () => {
    const { keys } = new TestBrowser('https://push.example').subscription;
    expect(areUsableKeys(keys)).toBe(true);
    const offCurve = Buffer.from(keys.p256dh, 'base64url');
    offCurve[40] = (offCurve[40] ?? 0) ^ 1;
    for (const bad of [
      { ...keys, p256dh: offCurve.toString('base64url') },
      { ...keys, p256dh: keys.p256dh.slice(0, 80) },
      { ...keys, auth: 'short' },
      { ...keys, auth: '<script>' },
      { ...keys, p256dh: '' },
    ])
      expect(areUsableKeys(bad)).toBe(false);
  });
});

describe('the keys of the host', () => {
  it('[DEV-042] are made once, in a file that only its owner can read', async () => {
    const folder = await tempFolder();
    const keys = await vapidKeys(folder);
    expect(await vapidKeys(folder)).toEqual(keys);
    const file = path.join(folder, VAPID_FILE);
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readFile(file, 'utf8')).toContain(keys.publicKey);
  });

  it.skipIf(process.platform === 'win32')('[DEV-042] that others could read are not used', async () => {
    const folder = await tempFolder();
    await vapidKeys(folder);
    await chmod(path.join(folder, VAPID_FILE), 0o644);
    await expect(vapidKeys(folder)).rejects.toThrow('chmod 600');
  });

  it('[DEV-042] are read, and sign, when an earlier release stored the private one without the zeros at its beginning', async () => {
    const folder = await tempFolder();
    const number = Buffer.alloc(31, 7);
    const { publicKey } = vapidKeysOf(number);
    const stored = JSON.stringify({ publicKey, privateKey: number.toString('base64url') });
    await writeFile(path.join(folder, VAPID_FILE), stored, { mode: 0o600 });
    const keys = await vapidKeys(folder);
    expect(Buffer.from(keys.privateKey, 'base64url')).toHaveLength(32);
    const facts = { keys, endpoint: 'https://push.example/1', now: 0, contact: 'mailto:operator@example.org' };
    expect(() => vapidClaims(vapidHeader(facts), publicKey)).not.toThrow();
  });

  it('[DEV-042] that are damaged are not replaced in silence', async () => {
    const folder = await tempFolder();
    await writeFile(path.join(folder, VAPID_FILE), '{"publicKey":"x"}', { mode: 0o600 });
    await expect(vapidKeys(folder)).rejects.toThrow('remove it');
  });
});
