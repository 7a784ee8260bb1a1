import { handlers } from '../../../../auth.mjs';

export const { GET, POST } = handlers;
