/** Parses JSON that people wrote, with the position of every part. */

import { packageOnUse } from '@atrium/core/util/package-on-use.js';
import type { TextRange } from '@atrium/protocol/ahp-1';
import type * as Jsonc from 'jsonc-parser';
import type { Node, ParseError } from 'jsonc-parser';

const jsonc = packageOnUse<typeof Jsonc>('jsonc-parser', import.meta.url);

export type JsonNode = Node;

export interface JsonDocument {
  readonly root: JsonNode;
  rangeOf(node: JsonNode): TextRange;
}

/** A file in which something is declared. */
export interface JsonFile {
  readonly path: string;
  readonly json: JsonDocument;
}

/** `problem` completes a sentence that begins with the file's name. */
export interface NotJson {
  readonly problem: string;
}

/** `tolerant` allows comments and trailing commas, as editors do. */
export function parseJson(text: string, mode: 'tolerant' | 'strict'): JsonDocument | NotJson {
  const lines = lineStarts(text);
  const tree = treeOf(text, mode);
  if ('problem' in tree) return tree;
  if ('error' in tree) return { problem: `is not valid JSON (line ${position(lines, tree.error.offset).line + 1})` };
  const rangeOf = ({ offset, length }: JsonNode) => ({
    start: position(lines, offset),
    end: position(lines, offset + length),
  });
  return { root: tree.root, rangeOf };
}

function treeOf(text: string, mode: 'tolerant' | 'strict'): { root: JsonNode } | { error: ParseError } | NotJson {
  const errors: ParseError[] = [];
  const strict = mode === 'strict';
  try {
    const root = jsonc().parseTree(text, errors, { disallowComments: strict, allowTrailingComma: !strict });
    if (errors[0]) return { error: errors[0] };
    // Reading the value once shows that it is not nested deeper than the stack allows.
    if (root) jsonc().getNodeValue(root);
    return root ? { root } : { problem: 'is empty' };
  } catch (error) {
    if (error instanceof RangeError) return { problem: 'is nested too deeply' };
    throw error;
  }
}

interface JsonMember {
  readonly key: string;
  readonly value: JsonNode;
  /** Key and value together. */
  readonly whole: JsonNode;
}

/** The members of an object in source order; empty for other values. */
export function membersOf(node: JsonNode | undefined): readonly JsonMember[] {
  if (node?.type !== 'object') return [];
  return (node.children ?? []).flatMap((whole) => {
    const [key, value] = whole.children ?? [];
    return key && value ? [{ key: String(key.value), value, whole }] : [];
  });
}

/** As in JavaScript, the last member of a name counts. */
export function memberOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return membersOf(node).findLast((member) => member.key === key)?.value;
}

export function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.type === 'array' ? (node.children ?? []) : [];
}

export function plainValue(node: JsonNode | undefined): unknown {
  return node === undefined ? undefined : jsonc().getNodeValue(node);
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function position(starts: readonly number[], offset: number): TextRange['start'] {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low, character: offset - (starts[low] ?? 0) };
}
