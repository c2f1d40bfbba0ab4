/**
 * Puts a damaged database aside and a rebuilt one in its place. The steps can be interrupted anywhere: a marker file
 * says what was begun, and the next opening goes on from there. Damaged bytes are moved, never deleted.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { LogRepair } from '../core/log/log.js';
import type { SqliteDriver } from './driver.js';
import { salvage } from './salvage.js';
import { createDatabase, DATABASE_PARTS } from './schema.js';
import { syncFile, syncFolder } from './sync.js';

export interface RepairContext {
  readonly driver: SqliteDriver;
  readonly database: string;
  readonly now: number;
}

/** A name beside the damaged file that is not taken. */
export function nameAside(file: string, now: number): string {
  const time = new Date(now).toISOString().replaceAll(/[-:.]/g, '');
  for (let count = 1; ; count++) {
    const name = `${file}.corrupt-${time}${count === 1 ? '' : `-${count}`}`;
    if (!existsSync(name)) return name;
  }
}

export function repairDatabase(context: RepairContext, reason: string): LogRepair {
  const keptAt = nameAside(context.database, context.now);
  writeFileSync(markerOf(context.database), path.basename(keptAt), { mode: 0o600 });
  syncFile(markerOf(context.database));
  carryOut(context, keptAt);
  return {
    message: `${context.database} ${reason}: it was rebuilt from every row that could be read`,
    keptAt,
    isRebuilt: true,
  };
}

/** Goes on with a repair that was interrupted. */
export function resumeRepair(context: RepairContext): LogRepair | undefined {
  const marker = markerOf(context.database);
  if (!existsSync(marker)) return undefined;
  const name = readFileSync(marker, 'utf8');
  const folder = path.dirname(context.database);
  if (!name.startsWith(`${path.basename(context.database)}.corrupt-`) || name !== path.basename(name)) {
    // The marker itself was cut off: nothing had been moved yet.
    rmSync(marker);
    return undefined;
  }
  const keptAt = path.join(folder, name);
  carryOut(context, keptAt);
  return {
    message: `${context.database} was being repaired when the host stopped: the repair is done now`,
    keptAt,
    isRebuilt: true,
  };
}

/** A database that is in its place is complete: it is made under another name. */
export function installFresh({ driver, database }: RepairContext): void {
  createDatabase(driver, `${database}.new`);
  install(database);
}

function carryOut({ driver, database, now }: RepairContext, keptAt: string): void {
  moveAside(database, keptAt);
  if (!existsSync(database)) {
    salvage({ driver, from: keptAt, to: `${database}.new`, now });
    install(database);
  }
  rmSync(markerOf(database));
}

/** The database file goes last: while it is in its old place, not everything has been moved. */
function moveAside(database: string, keptAt: string): void {
  if (existsSync(keptAt)) return;
  for (const part of DATABASE_PARTS) {
    if (existsSync(database + part)) renameSync(database + part, keptAt + part);
  }
  syncFolder(path.dirname(database));
}

function install(database: string): void {
  syncFile(`${database}.new`);
  renameSync(`${database}.new`, database);
  syncFolder(path.dirname(database));
}

function markerOf(database: string): string {
  return `${database}.repairing`;
}
