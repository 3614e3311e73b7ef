/** A service as the usage of a run names it. */
export const serviceName = (provider: string, model: string): string => `${provider}#0|||${model}`
