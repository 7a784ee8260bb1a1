/** The configuration block of everything in this folder. */
export const BLOCK = 'idpBService';
