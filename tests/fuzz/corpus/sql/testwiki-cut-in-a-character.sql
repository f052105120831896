-- MySQL dump 10.19
-- Host: localhost    Database: testwiki
/*!40101 SET x=1 */;
DROP TABLE IF EXISTS `langlinks`;
CREATE TABLE `langlinks` (
  `ll_from` int,
  `ll_lang` varbinary(35),
  `ll_title` varbinary(255)
) ENGINE=InnoDB;
INSERT INTO `langlinks` VALUES (1,'de','HÃ¼gel'),(1,'zh','ä¸