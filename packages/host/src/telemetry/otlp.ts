/** Spans, metrics and log records in OTLP/JSON, the format of collectors. Pure functions and types. */

import type { Attributes } from '@atrium/core/contracts/telemetry.js';

export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** Milliseconds since the epoch, with fractions. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  /** Why it failed; absent if it did not. */
  readonly error?: string | undefined;
}

export interface LogRecordData {
  readonly time: number;
  readonly severity: Severity;
  readonly message: string;
  readonly attributes: Attributes;
}

/** The measurements of one interval with the same name and attributes. */
export type MetricPoint = CountPoint | HistogramPoint;

interface PointBase {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
}

export interface CountPoint extends PointBase {
  readonly kind: 'count';
  readonly value: number;
}

export interface HistogramPoint extends PointBase {
  readonly kind: 'histogram';
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** How many values fell below each of `BOUNDS`, and how many above the last. */
  readonly buckets: readonly number[];
}

export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** Upper bounds of a histogram's buckets: a tenth of a millisecond to ten seconds, or plain numbers. */
export const BOUNDS = [0.1, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const;

/** The first number of each band of OTLP's severities. */
export const SEVERITIES = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 } as const;
export type Severity = keyof typeof SEVERITIES;

const SCOPE = { name: 'atrium' } as const;
const DELTA = 1;
const INTERNAL = 1;
const STATUS_ERROR = 2;

export function traces(resource: Attributes, spans: readonly SpanRecord[]): { resourceSpans: unknown[] } {
  return {
    resourceSpans: [{ resource: resourceOf(resource), scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOf) }] }],
  };
}

export function logs(resource: Attributes, records: readonly LogRecordData[]): { resourceLogs: unknown[] } {
  const logRecords = records.map(logOf);
  return { resourceLogs: [{ resource: resourceOf(resource), scopeLogs: [{ scope: SCOPE, logRecords }] }] };
}

export function metrics(
  resource: Attributes,
  points: readonly MetricPoint[],
  interval: Interval,
): { resourceMetrics: unknown[] } {
  const measured = points.map((point) => metricOf(point, interval));
  return { resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics: [{ scope: SCOPE, metrics: measured }] }] };
}

function resourceOf(attributes: Attributes): object {
  return { attributes: attributesOf(attributes) };
}

function spanOf({ traceId, spanId, parentSpanId, name, start, end, attributes, error }: SpanRecord): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId !== undefined && { parentSpanId }),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanos(start),
    endTimeUnixNano: nanos(end),
    attributes: attributesOf(attributes),
    status: error === undefined ? {} : { code: STATUS_ERROR, message: error },
  };
}

function logOf({ time, severity, message, attributes }: LogRecordData): object {
  return {
    timeUnixNano: nanos(time),
    severityNumber: SEVERITIES[severity],
    severityText: severity.toUpperCase(),
    body: { stringValue: message },
    attributes: attributesOf(attributes),
  };
}

function metricOf(point: MetricPoint, { start, end }: Interval): object {
  const { name, unit } = point;
  const times = { startTimeUnixNano: nanos(start), timeUnixNano: nanos(end) };
  const common = { attributes: attributesOf(point.attributes), ...times };
  if (point.kind === 'count') {
    const dataPoints = [{ ...common, asInt: String(point.value) }];
    return { name, unit, sum: { dataPoints, aggregationTemporality: DELTA, isMonotonic: true } };
  }
  const { count, sum, min, max, buckets } = point;
  const bucketCounts = buckets.map(String);
  const dataPoints = [{ ...common, count: String(count), sum, min, max, bucketCounts, explicitBounds: [...BOUNDS] }];
  return { name, unit, histogram: { dataPoints, aggregationTemporality: DELTA } };
}

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** OTLP counts nanoseconds, more than a number can hold exactly. */
function nanos(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1_000)) * 1_000n);
}
