/** The error of a call to a store that is not called for now, because several calls in a row failed or it is not connected yet. */
export const STORE_AWAY: Error = new Error('the shared store is away');
