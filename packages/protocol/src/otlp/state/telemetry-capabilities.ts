import { type Static, Type } from 'typebox';
import { URI } from '../../common/uri.js';

export const TelemetryCapabilities = Type.Object(
  { logs: Type.Optional(URI), traces: Type.Optional(URI), metrics: Type.Optional(URI) },
  {
    $id: 'TelemetryCapabilities',
    description: 'The telemetry channels a host emits, as literal URIs or RFC 6570 templates.',
  },
);
export type TelemetryCapabilities = Static<typeof TelemetryCapabilities>;
