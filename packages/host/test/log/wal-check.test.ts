import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDriver } from '../../src/log-sqlite/driver.js';
import { checkWal } from '../../src/log-sqlite/wal-check.js';

/** Bytes before the first frame, and before the page in a frame. */
const HEADER = 32;
const FRAME_HEADER = 24;

describe('a write-ahead file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'atrium-wal-'));
  let wal = Buffer.alloc(0);
  let frame = 0;
  let frames = 0;

  /** Three commits of one page each, as SQLite writes them. */
  beforeAll(async () => {
    const file = path.join(folder, 'a.db');
    const db = (await loadDriver()).open(file);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('CREATE TABLE t (a)');
    for (let count = 0; count < 3; count += 1) db.exec(`INSERT INTO t VALUES (${count})`);
    copyFileSync(`${file}-wal`, path.join(folder, 'copy'));
    db.close();
    wal = readFileSync(path.join(folder, 'copy'));
    frame = FRAME_HEADER + wal.readUInt32BE(8);
    frames = (wal.length - HEADER) / frame;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function check(bytes: Buffer) {
    const file = path.join(folder, 'checked');
    writeFileSync(file, bytes);
    return checkWal(file);
  }

  const at = (index: number) => HEADER + index * frame;
  const changed = (...places: number[]) => {
    const bytes = Buffer.from(wal);
    for (const place of places) bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
    return bytes;
  };

  it('[REL-032] is whole when SQLite wrote it, when it is empty, and when there is none', () => {
    expect(Number.isInteger(frames) && frames > 3).toBe(true);
    expect(check(wal)).toEqual({ at: 'whole' });
    expect(check(Buffer.alloc(0))).toEqual({ at: 'whole' });
    expect(check(wal.subarray(0, HEADER))).toEqual({ at: 'whole' });
    expect(checkWal(path.join(folder, 'none'))).toEqual({ at: 'whole' });
  });

  it('[REL-031] is unfinished where it was cut off, from its last whole commit on', () => {
    expect(check(wal.subarray(0, HEADER - 1))).toEqual({ at: 'unfinished', from: 0 });
    for (const cut of [1, FRAME_HEADER - 1, FRAME_HEADER, frame - 1]) {
      expect(check(wal.subarray(0, at(frames - 1) + cut))).toEqual({ at: 'unfinished', from: at(frames - 1) });
    }
    expect(check(wal.subarray(0, at(frames - 1)))).toEqual({ at: 'whole' });
  });

  it('[REL-031] is unfinished when the last frame alone is bad', () => {
    for (const place of [0, 4, 16, 20, FRAME_HEADER, frame - 1])
      expect(check(changed(at(frames - 1) + place))).toEqual({ at: 'unfinished', from: at(frames - 1) });
  });

  it('[REL-032] is damaged when good frames stand behind a bad one', () => {
    for (const place of [16, FRAME_HEADER, frame - 1])
      expect(check(changed(at(frames - 2) + place))).toEqual({ at: 'damaged', from: at(frames - 2) });
    expect(check(changed(at(1) + FRAME_HEADER)).at).toBe('damaged');
    // The salt of a frame decides to which round it belongs.
    expect(check(changed(at(frames - 2) + 8))).toEqual({ at: 'damaged', from: at(frames - 2) });
  });

  it('[REL-032] is damaged when its header is', () => {
    for (const place of [0, 8, 16, 24, 31]) expect(check(changed(place))).toEqual({ at: 'damaged', from: 0 });
  });

  it('[REL-031] is whole when frames of an earlier round stand behind it', () => {
    const old = changed(at(frames - 2) + 8, at(frames - 1) + 8);
    expect(check(old)).toEqual({ at: 'whole' });
    expect(check(Buffer.concat([old, Buffer.alloc(10)]))).toEqual({ at: 'whole' });
  });

  it('[REL-031] is unfinished behind its last whole commit when zeros follow, as a file system may leave them', () => {
    for (const zeros of [15, 16, FRAME_HEADER, frame, 3 * frame])
      expect(check(Buffer.concat([wal, Buffer.alloc(zeros)]))).toEqual({ at: 'unfinished', from: wal.length });
  });

  it('[REL-031] is whole when the beginning of a frame of an earlier round follows, if that can be told', () => {
    const old = changed(at(0) + 8).subarray(at(0));
    for (const bytes of [16, FRAME_HEADER, frame - 1, frame])
      expect([bytes, check(Buffer.concat([wal, old.subarray(0, bytes)]))]).toEqual([bytes, { at: 'whole' }]);
    expect(check(Buffer.concat([wal, old.subarray(0, 15)]))).toEqual({ at: 'unfinished', from: wal.length });
    const good = wal.subarray(at(frames - 1));
    expect(check(Buffer.concat([wal, old.subarray(0, frame), good]))).toEqual({ at: 'damaged', from: wal.length });
  });

  it('[REL-031] is unfinished from the beginning of a commit of several frames that lacks its last', async () => {
    const file = path.join(folder, 'b.db');
    const db = (await loadDriver()).open(file);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec('CREATE TABLE t (a)');
    copyFileSync(`${file}-wal`, path.join(folder, 'before'));
    db.exec(`INSERT INTO t VALUES ('${'x'.repeat(20_000)}')`);
    copyFileSync(`${file}-wal`, path.join(folder, 'after'));
    db.close();
    const [before, after] = ['before', 'after'].map((name) => readFileSync(path.join(folder, name)));
    const [start, end] = [before?.length ?? 0, after?.length ?? 0];
    expect(end - start).toBeGreaterThan(3 * frame);
    expect(check(after ?? Buffer.alloc(0))).toEqual({ at: 'whole' });
    for (let cut = start + frame; cut < end; cut += frame)
      expect(check(after?.subarray(0, cut) ?? Buffer.alloc(0))).toEqual({ at: 'unfinished', from: start });
  });
});
