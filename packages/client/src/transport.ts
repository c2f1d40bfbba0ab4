/** The host closes with this when the same client id connects elsewhere. Coming back would throw the other one out. */
export const CLOSE_REPLACED = 4002;
