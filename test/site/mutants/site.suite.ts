import { siteSuite } from '../site-suite.js';
import { MUTANTS, mutantSite, SOUND } from './mutant.js';

siteSuite(SOUND);
for (const mutant of MUTANTS) siteSuite(mutantSite(mutant));
