/** Telemetry channels: logs, traces and metrics in OTLP/JSON. They have no state. */
import { type Static, Type } from 'typebox';
import { URI } from '../common/types.js';

export const TelemetryCapabilities = Type.Object(
  { logs: Type.Optional(URI), traces: Type.Optional(URI), metrics: Type.Optional(URI) },
  {
    $id: 'TelemetryCapabilities',
    description: 'The telemetry channels a host emits, as literal URIs or RFC 6570 templates.',
  },
);
export type TelemetryCapabilities = Static<typeof TelemetryCapabilities>;

export const OtlpExportLogsParams = Type.Object(
  {
    channel: URI,
    payload: Type.Object({ resourceLogs: Type.Array(Type.Unknown(), { description: 'As OTLP/JSON defines it.' }) }),
  },
  { $id: 'OtlpExportLogsParams', description: 'Log records in OTLP/JSON.' },
);
export type OtlpExportLogsParams = Static<typeof OtlpExportLogsParams>;

export const OtlpExportMetricsParams = Type.Object(
  {
    channel: URI,
    payload: Type.Object({ resourceMetrics: Type.Array(Type.Unknown(), { description: 'As OTLP/JSON defines it.' }) }),
  },
  { $id: 'OtlpExportMetricsParams', description: 'Metrics in OTLP/JSON.' },
);
export type OtlpExportMetricsParams = Static<typeof OtlpExportMetricsParams>;

export const OtlpExportTracesParams = Type.Object(
  {
    channel: URI,
    payload: Type.Object({ resourceSpans: Type.Array(Type.Unknown(), { description: 'As OTLP/JSON defines it.' }) }),
  },
  { $id: 'OtlpExportTracesParams', description: 'Spans in OTLP/JSON.' },
);
export type OtlpExportTracesParams = Static<typeof OtlpExportTracesParams>;
