/** Says where two states differ, in words that fit into the message of a failed test. */

/** The first place where two values differ; undefined when they are equal as JSON. */
export function difference(actual: unknown, expected: unknown): string | undefined {
  return differenceAt('', asJson(actual), asJson(expected));
}

/** A state without the times that a mirror takes from its own clock. */
export function withoutTimes(state: unknown): unknown {
  const { summary, ...rest } = state as { summary?: { modifiedAt?: number } };
  if (!summary) return rest;
  const { modifiedAt: _modifiedAt, ...kept } = summary;
  return { ...rest, summary: kept };
}

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function differenceAt(path: string, actual: unknown, expected: unknown): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  if (!isObject(actual) || !isObject(expected)) return `${path || '/'} is ${brief(actual)}, not ${brief(expected)}`;
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length) {
    return `${path} has ${actual.length} entries, not ${expected.length}`;
  }
  for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
    const found = differenceAt(`${path}/${key}`, actual[key], expected[key]);
    if (found) return found;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? 'absent').slice(0, 300);
}
