-- The shapes of ClickBench's 43 queries over the table that data.py makes. Where the original leaves the choice of rows
-- open, a further sort key closes it, so that every engine must give the same rows.

-- 1: everything
SELECT count(*) FROM hits;
-- 2: a filter few rows pass
SELECT count(*) FROM hits WHERE AdvEngineID <> 0;
-- 3: several sums
SELECT sum(AdvEngineID), count(*), avg(ResolutionWidth) FROM hits;
-- 4: the mean of large numbers
SELECT avg(UserID) FROM hits;
-- 5: distinct integers
SELECT count(DISTINCT UserID) FROM hits;
-- 6: distinct strings
SELECT count(DISTINCT SearchPhrase) FROM hits;
-- 7: what footers know
SELECT min(EventDate), max(EventDate) FROM hits;
-- 8: few groups behind a filter
SELECT AdvEngineID, count(*) AS hits FROM hits WHERE AdvEngineID <> 0 GROUP BY AdvEngineID ORDER BY hits DESC, 1;
-- 9: distinct per group
SELECT RegionID, count(DISTINCT UserID) AS users FROM hits GROUP BY RegionID ORDER BY users DESC, RegionID LIMIT 10;
-- 10: distinct beside sums
SELECT RegionID, sum(AdvEngineID), count(*) AS hits, avg(ResolutionWidth), count(DISTINCT UserID)
FROM hits GROUP BY RegionID ORDER BY hits DESC, RegionID LIMIT 10;
-- 11: distinct per string
SELECT MobilePhoneModel, count(DISTINCT UserID) AS users FROM hits
WHERE MobilePhoneModel <> '' GROUP BY MobilePhoneModel ORDER BY users DESC, MobilePhoneModel LIMIT 10;
-- 12: distinct per number and string
SELECT MobilePhone, MobilePhoneModel, count(DISTINCT UserID) AS users FROM hits
WHERE MobilePhoneModel <> '' GROUP BY MobilePhone, MobilePhoneModel ORDER BY users DESC, 1, 2 LIMIT 10;
-- 13: frequent strings
SELECT SearchPhrase, count(*) AS hits FROM hits WHERE SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY hits DESC, 1 LIMIT 10;
-- 14: strings by distinct users
SELECT SearchPhrase, count(DISTINCT UserID) AS users FROM hits
WHERE SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY users DESC, 1 LIMIT 10;
-- 15: frequent pairs
SELECT SearchEngineID, SearchPhrase, count(*) AS hits FROM hits
WHERE SearchPhrase <> '' GROUP BY SearchEngineID, SearchPhrase ORDER BY hits DESC, 1, 2 LIMIT 10;
-- 16: many groups of integers
SELECT UserID, count(*) AS hits FROM hits GROUP BY UserID ORDER BY hits DESC, UserID LIMIT 10;
-- 17: many groups of pairs
SELECT UserID, SearchPhrase, count(*) AS hits FROM hits GROUP BY UserID, SearchPhrase ORDER BY hits DESC, 1, 2 LIMIT 10;
-- 18: the same, ordered by the key alone
SELECT UserID, SearchPhrase, count(*) FROM hits GROUP BY UserID, SearchPhrase ORDER BY UserID, SearchPhrase LIMIT 10;
-- 19: a group key that is computed
SELECT UserID, extract(minute FROM EventTime) AS m, SearchPhrase, count(*) AS hits FROM hits
GROUP BY UserID, m, SearchPhrase ORDER BY hits DESC, 1, 2, 3 LIMIT 10;
-- 20: a needle
SELECT UserID FROM hits WHERE UserID = (SELECT max(UserID) FROM hits);
-- 21: a substring, counted
SELECT count(*) FROM hits WHERE URL LIKE '%market%';
-- 22: a substring, grouped
SELECT SearchPhrase, min(URL), count(*) AS hits FROM hits
WHERE URL LIKE '%market%' AND SearchPhrase <> '' GROUP BY SearchPhrase ORDER BY hits DESC, 1 LIMIT 10;
-- 23: substrings, wanted and not
SELECT SearchPhrase, min(URL), min(Title), count(*) AS hits, count(DISTINCT UserID) FROM hits
WHERE Title LIKE '%Market%' AND URL NOT LIKE '%.market.%' AND SearchPhrase <> ''
GROUP BY SearchPhrase ORDER BY hits DESC, 1 LIMIT 10;
-- 24: whole rows, the earliest
SELECT * FROM hits WHERE URL LIKE '%market%' ORDER BY EventTime, WatchID LIMIT 10;
-- 25: strings, the earliest
SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime, WatchID LIMIT 10;
-- 26: strings, the first
SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY SearchPhrase LIMIT 10;
-- 27: strings, the earliest and first
SELECT SearchPhrase FROM hits WHERE SearchPhrase <> '' ORDER BY EventTime, SearchPhrase LIMIT 10;
-- 28: mean lengths behind HAVING
SELECT CounterID, avg(length(URL)) AS size, count(*) AS hits FROM hits
WHERE URL <> '' GROUP BY CounterID HAVING count(*) > 100 ORDER BY size DESC, 1 LIMIT 25;
-- 29: a group key cut out by a regular expression
SELECT regexp_replace(Referer, '^https?://(?:www\.)?([^/]+)/.*$', '\1') AS host, avg(length(Referer)) AS size, count(*) AS hits, min(Referer)
FROM hits WHERE Referer <> '' GROUP BY host HAVING count(*) > 100 ORDER BY size DESC, host LIMIT 25;
-- 30: very many sums
SELECT sum(ResolutionWidth), sum(ResolutionWidth + 1), sum(ResolutionWidth + 2), sum(ResolutionWidth + 3), sum(ResolutionWidth + 4),
  sum(ResolutionWidth + 5), sum(ResolutionWidth + 6), sum(ResolutionWidth + 7), sum(ResolutionWidth + 8), sum(ResolutionWidth + 9),
  sum(ResolutionWidth + 10), sum(ResolutionWidth + 11), sum(ResolutionWidth + 12), sum(ResolutionWidth + 13), sum(ResolutionWidth + 14),
  sum(ResolutionWidth + 15), sum(ResolutionWidth + 16), sum(ResolutionWidth + 17), sum(ResolutionWidth + 18), sum(ResolutionWidth + 19),
  sum(ResolutionWidth + 20), sum(ResolutionWidth + 21), sum(ResolutionWidth + 22), sum(ResolutionWidth + 23), sum(ResolutionWidth + 24)
FROM hits;
-- 31: groups of two numbers behind a filter
SELECT SearchEngineID, ClientIP, count(*) AS hits, sum(IsRefresh), avg(ResolutionWidth) FROM hits
WHERE SearchPhrase <> '' GROUP BY SearchEngineID, ClientIP ORDER BY hits DESC, 1, 2 LIMIT 10;
-- 32: nearly every row its own group, behind a filter
SELECT WatchID, ClientIP, count(*) AS hits, sum(IsRefresh), avg(ResolutionWidth) FROM hits
WHERE SearchPhrase <> '' GROUP BY WatchID, ClientIP ORDER BY hits DESC, 1, 2 LIMIT 10;
-- 33: every row its own group
SELECT WatchID, ClientIP, count(*) AS hits, sum(IsRefresh), avg(ResolutionWidth) FROM hits
GROUP BY WatchID, ClientIP ORDER BY hits DESC, 1, 2 LIMIT 10;
-- 34: frequent long strings
SELECT URL, count(*) AS hits FROM hits GROUP BY URL ORDER BY hits DESC, URL LIMIT 10;
-- 35: the same beside a constant
SELECT 1, URL, count(*) AS hits FROM hits GROUP BY 1, URL ORDER BY hits DESC, URL LIMIT 10;
-- 36: keys that depend on each other
SELECT ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3, count(*) AS hits FROM hits
GROUP BY ClientIP, ClientIP - 1, ClientIP - 2, ClientIP - 3 ORDER BY hits DESC, ClientIP LIMIT 10;
-- 37: one site's pages in a month
SELECT URL, count(*) AS views FROM hits
WHERE CounterID = 62 AND EventDate BETWEEN DATE '2013-07-01' AND DATE '2013-07-31' AND DontCountHits = 0 AND IsRefresh = 0 AND URL <> ''
GROUP BY URL ORDER BY views DESC, URL LIMIT 10;
-- 38: its titles
SELECT Title, count(*) AS views FROM hits
WHERE CounterID = 62 AND EventDate BETWEEN DATE '2013-07-01' AND DATE '2013-07-31' AND DontCountHits = 0 AND IsRefresh = 0 AND Title <> ''
GROUP BY Title ORDER BY views DESC, Title LIMIT 10;
-- 39: its links, a later page of the result
SELECT URL, count(*) AS views FROM hits
WHERE CounterID = 62 AND EventDate BETWEEN DATE '2013-07-01' AND DATE '2013-07-31' AND IsRefresh = 0 AND IsLink <> 0 AND IsDownload = 0
GROUP BY URL ORDER BY views DESC, URL LIMIT 10 OFFSET 10;
-- 40: where visitors come from
SELECT TraficSourceID, SearchEngineID, AdvEngineID, CASE WHEN SearchEngineID = 0 AND AdvEngineID = 0 THEN Referer ELSE '' END AS src, URL AS dst, count(*) AS views
FROM hits WHERE CounterID = 62 AND EventDate BETWEEN DATE '2013-07-01' AND DATE '2013-07-31' AND IsRefresh = 0
GROUP BY TraficSourceID, SearchEngineID, AdvEngineID, src, dst ORDER BY views DESC, 1, 2, 3, 4, 5 LIMIT 10 OFFSET 10;
-- 41: by day and hash
SELECT URLHash, EventDate, count(*) AS views FROM hits
WHERE CounterID = 62 AND EventDate BETWEEN DATE '2013-07-01' AND DATE '2013-07-31' AND IsRefresh = 0 AND TraficSourceID IN (-1, 6) AND RefererHash % 2 = 0
GROUP BY URLHash, EventDate ORDER BY views DESC, 1, 2 LIMIT 10 OFFSET 10;
-- 42: window sizes
SELECT WindowClientWidth, WindowClientHeight, count(*) AS views FROM hits
WHERE CounterID = 62 AND EventDate BETWEEN DATE '2013-07-01' AND DATE '2013-07-31' AND IsRefresh = 0 AND DontCountHits = 0 AND URLHash % 3 = 0
GROUP BY WindowClientWidth, WindowClientHeight ORDER BY views DESC, 1, 2 LIMIT 10 OFFSET 10;
-- 43: by minute
SELECT date_trunc('minute', EventTime) AS m, count(*) AS views FROM hits
WHERE CounterID = 62 AND EventDate BETWEEN DATE '2013-07-14' AND DATE '2013-07-15' AND IsRefresh = 0 AND DontCountHits = 0
GROUP BY m ORDER BY m LIMIT 10 OFFSET 5;
