/** Where the parts of a plugin are: in the usual places, and in those that its manifest names. */
import path from 'node:path';
import { itemsOf, type JsonNode, memberOf } from './json.js';
import { LOCATIONS_MAX } from './limits.js';
import type { Manifest } from './manifest.js';
import type { Warnings } from './warnings.js';

export interface Place {
  readonly path: string;
  /** Named in the manifest, so that its absence is worth a warning. */
  readonly isNamed: boolean;
}

export interface Locations {
  readonly places: readonly Place[];
  /** Parts that are written down in the manifest itself. */
  readonly inline?: JsonNode;
}

export interface LocationField {
  readonly key: string;
  readonly usual: readonly string[];
  /** Whether parts may be written down in the manifest itself. */
  readonly allowsInline?: boolean;
}

export function locationsOf(manifest: Manifest | undefined, field: LocationField, warnings: Warnings): Locations {
  const usual = field.usual.map((place) => ({ path: place, isNamed: false }));
  const value = memberOf(manifest?.json.root, field.key);
  if (!manifest || !value) return { places: usual };
  const wrong = (what: string) =>
    warnings.add('manifest-field-invalid', `${manifest.path}: "${field.key}" ${what}.`, manifest.path);
  const paths = pathNodes(value);
  if (!paths) {
    if (field.allowsInline && value.type === 'object') return { places: usual, inline: value };
    wrong('must be a path, a list of paths, or an object with "paths"; it is ignored');
    return { places: usual };
  }
  const named = paths.slice(0, LOCATIONS_MAX).flatMap((node) => namedPlace(node, wrong, warnings, manifest.path));
  if (paths.length > LOCATIONS_MAX) wrong(`names more than ${LOCATIONS_MAX} paths; the rest is ignored`);
  return { places: unique(memberOf(value, 'exclusive')?.value === true ? named : [...usual, ...named]) };
}

/** The paths that a field names; undefined when it is something else. */
function pathNodes(value: JsonNode): readonly JsonNode[] | undefined {
  if (value.type === 'string') return [value];
  if (value.type === 'array') return itemsOf(value);
  const paths = memberOf(value, 'paths');
  return paths?.type === 'string' || paths?.type === 'array' ? pathNodes(paths) : undefined;
}

function namedPlace(node: JsonNode, wrong: (what: string) => void, warnings: Warnings, file: string): Place[] {
  const text: unknown = node.value;
  if (typeof text !== 'string' || text.trim() === '' || text.includes('\0')) {
    wrong('names something that is no path; it is ignored');
    return [];
  }
  const inner = innerPath(text);
  if (inner === undefined) {
    warnings.add('path-escapes', `"${text.trim()}" leads out of the folder, so it is left out.`, file);
    return [];
  }
  if (!/^\.(?:[/\\]|$)/.test(text.trim())) wrong(`should write "./${inner}" for "${text.trim()}"`);
  return [{ path: inner, isNamed: true }];
}

/** The same path in its shortest form; undefined when it leads out. */
export function innerPath(text: string): string | undefined {
  const plain = text.trim().replaceAll('\\', '/');
  if (plain.startsWith('/') || /^[a-z]:/i.test(plain)) return undefined;
  const short = path.posix.normalize(plain).replace(/\/$/, '');
  if (short === '..' || short.startsWith('../')) return undefined;
  return short === '.' ? '' : short;
}

/** A usual place that is named as well keeps its place in the order, and counts as named. */
function unique(places: readonly Place[]): readonly Place[] {
  return [...new Map(places.map((place) => [place.path, place])).values()];
}
