import express from 'express';
import { expressSite } from './frameworks/express.js';
import { siteSuite } from './site-suite.js';

siteSuite(expressSite('Express 5 after express.json()', express, { json: true }));
siteSuite(expressSite('Express 5 behind compression()', express, { compression: true }));
