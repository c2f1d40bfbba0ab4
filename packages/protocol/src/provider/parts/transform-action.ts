/** What a fixed change may do with a section of the system prompt. */
export const STATIC_TRANSFORM_ACTIONS = ['append', 'prepend', 'replace'] as const;
export type StaticTransformAction = (typeof STATIC_TRANSFORM_ACTIONS)[number];
