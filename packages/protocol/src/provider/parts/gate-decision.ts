/**
 * Let the call pass, block it, or let it pass with `reason` as extra context.
 * No schema: on the wire any other value is legal too, and counts as deny.
 */
export const GATE_DECISIONS = ['allow', 'deny', 'context'] as const;
export type ProviderGateDecision = (typeof GATE_DECISIONS)[number];
