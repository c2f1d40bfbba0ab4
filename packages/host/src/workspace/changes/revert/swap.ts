/**
 * Moves a file aside and another one into its place, in two steps that nothing of ours comes between. Neither step ever
 * removes a file: if somebody was faster, it fails, or takes their file along, which can then be given back.
 */
import { linkSync, lstatSync, readlinkSync, renameSync, symlinkSync } from 'node:fs';

export interface SwapPaths {
  readonly place: Buffer;
  /** What is to be there; absent when nothing is. */
  readonly draft?: Buffer;
  /** Where what is there now goes; absent when nothing is there as far as we know. */
  readonly aside?: Buffer;
}

/** What stands in the place now, as its number on the disk: undefined when nothing does. */
export type Placed = bigint | undefined;

/** Undefined when somebody was faster: then everything is as they left it. */
export function swap({ place, draft, aside }: SwapPaths): { readonly placed: Placed } | undefined {
  try {
    if (aside) renameSync(place, aside);
  } catch (error) {
    return orThrow(error);
  }
  try {
    if (draft) occupy(place, draft);
    return { placed: draft && numberOf(place) };
  } catch (error) {
    if (aside) giveBack({ place, aside }, undefined);
    return orThrow(error);
  }
}

/** Puts back what was taken along, unless somebody has made something else there since. Says whether it did. */
export function giveBack({ place, aside }: Required<Pick<SwapPaths, 'place' | 'aside'>>, placed: Placed): boolean {
  if (numberOf(place) !== placed) return false;
  renameSync(aside, place);
  return true;
}

/** Fails when there is something. */
function occupy(place: Buffer, draft: Buffer): void {
  // Some systems follow a link here instead of making another one like it.
  if (lstatSync(draft).isSymbolicLink()) return symlinkSync(readlinkSync(draft, { encoding: 'buffer' }), place);
  try {
    linkSync(draft, place);
  } catch (error) {
    // There are disks that cannot give a file two names.
    if (codeOf(error) === 'EEXIST' || numberOf(place) !== undefined) throw error;
    renameSync(draft, place);
  }
}

function numberOf(place: Buffer): Placed {
  return lstatSync(place, { bigint: true, throwIfNoEntry: false })?.ino;
}

/** Somebody took the file away, or made one. */
function orThrow(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EEXIST') return undefined;
  throw error;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
